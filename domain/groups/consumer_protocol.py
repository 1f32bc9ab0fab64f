"""What members of type `consumer` say to each other, as far as the broker has to understand it."""

from __future__ import annotations

from struct import error as StructError
from struct import unpack_from

CONSUMER = "consumer"


def subscribed_topics(subscription: bytes) -> frozenset[str] | None:
    """The topics of a subscription, whose beginning is the same in all versions; None: it is none.

    version, count, then each topic with its length before it
    """
    try:
        _, count = unpack_from(">hi", subscription)
        if count < 0 or count > len(subscription):
            return None
        position = 6
        topics = set()
        for _ in range(count):
            (length,) = unpack_from(">h", subscription, position)
            position += 2
            if length < 0 or position + length > len(subscription):
                return None
            topics.add(subscription[position : position + length].decode())
            position += length
    except (StructError, UnicodeDecodeError):
        return None
    return frozenset(topics)
