"""Subscriptions and assignments of the consumer protocol in classic groups.

Written independently of the broker's own parser.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

#: Partitions by the names of their topics.
Partitions = Mapping[str, Iterable[int]]

NO_USER_DATA = struct.pack(">i", -1)


def subscription(*topics: str, owned: Partitions | None = None, version: int = 1) -> bytes:
    """A member's subscription."""
    names = _array([_string(one) for one in topics])
    return struct.pack(">h", version) + names + NO_USER_DATA + _partitions(owned or {})


def assignment(partitions: Partitions, version: int = 1) -> bytes:
    """A member's assignment."""
    return struct.pack(">h", version) + _partitions(partitions) + NO_USER_DATA


def owned_in(data: bytes) -> set[tuple[str, int]]:
    """Owned partitions of a subscription."""
    (count,) = struct.unpack_from(">i", data, 2)
    position = 6
    for _ in range(count):
        (length,) = struct.unpack_from(">h", data, position)
        position += 2 + length
    return _read_partitions(data, position + 4)


def assigned_in(data: bytes) -> set[tuple[str, int]]:
    """Partitions of an assignment; empty bytes are none."""
    return _read_partitions(data, 2) if data else set()


def by_topic(partitions: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        found.setdefault(topic, []).append(index)
    return found


def _read_partitions(data: bytes, position: int) -> set[tuple[str, int]]:
    found = set()
    (topics,) = struct.unpack_from(">i", data, position)
    position += 4
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", data, position)
        topic = data[position + 2 : position + 2 + length].decode()
        position += 2 + length
        (count,) = struct.unpack_from(">i", data, position)
        numbers = struct.unpack_from(f">{count}i", data, position + 4)
        position += 4 + 4 * count
        found.update((topic, number) for number in numbers)
    return found


def _partitions(of_topics: Partitions) -> bytes:
    return _array(
        [
            _string(name) + _array([struct.pack(">i", one) for one in numbers])
            for name, numbers in of_topics.items()
        ]
    )


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">h", len(raw)) + raw


def _array(items: list[bytes]) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)
