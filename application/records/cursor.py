"""A cursor: where the next page of a scan begins, in a word that a client hands back.

It holds the ranges that are left, by partition. It may come back from anybody, so what it says is
held against what there is, and can only ever narrow it.
"""

from __future__ import annotations

import base64
import binascii
import json

from application.records.plan import MAX_PARTITIONS, OffsetRange
from domain.errors import InvalidRequest

_MAX_CURSOR = 64 * 1024
_MAX_OFFSET = 2**63 - 1

#: By partition: first offset, and the one after the last.
Left = dict[int, tuple[int, int]]


def write_cursor(ranges: list[OffsetRange], newest_first: bool) -> str | None:
    """None when nothing is left."""
    left = [[each.index, each.start, each.end] for each in ranges if not each.is_done]
    if not left:
        return None
    text = json.dumps(["newest" if newest_first else "oldest", left], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, newest_first: bool) -> Left:
    """Raises InvalidRequest when it is not one that was written for such a scan."""
    try:
        if len(cursor) > _MAX_CURSOR:
            raise ValueError
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        order, left = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        ranges = {index: (start, end) for index, start, end in left}
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidRequest("The cursor is not one that was given out") from None
    if order != ("newest" if newest_first else "oldest"):
        raise InvalidRequest("The cursor is of a scan in the other order")
    for index, (start, end) in ranges.items():
        whole = all(type(number) is int for number in (index, start, end))
        if not whole or not 0 <= start <= end <= _MAX_OFFSET or len(ranges) > MAX_PARTITIONS:
            raise InvalidRequest("The cursor is not one that was given out")
    return ranges
