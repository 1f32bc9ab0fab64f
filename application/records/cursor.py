"""A cursor: the start of the next page of a scan, as a string that the client sends back.

It has the order, and for each remaining partition its index, first offset and end offset. Clients
may send anything, so a cursor can only narrow the ranges that exist.
"""

from __future__ import annotations

from application.records.plan import MAX_PARTITIONS, OffsetRange
from domain.errors import InvalidRequest

_MAX_OFFSET = 2**63 - 1
_ORDERS = ("oldest", "newest")

#: By partition: first offset and end offset.
Left = dict[int, tuple[int, int]]


def write_cursor(ranges: list[OffsetRange], newest_first: bool) -> str | None:
    """None if nothing is left."""
    left = [f"{each.index}.{each.start}.{each.end}" for each in ranges if not each.is_done]
    return "-".join([_ORDERS[newest_first], *left]) if left else None


def read_cursor(cursor: str, newest_first: bool) -> Left:
    """Raises InvalidRequest if the cursor is malformed or of the other order."""
    order, *left = cursor.split("-")
    if order not in _ORDERS or not 0 < len(left) <= MAX_PARTITIONS:
        raise InvalidRequest("The cursor is malformed")
    if order != _ORDERS[newest_first]:
        raise InvalidRequest("The cursor is of a scan in the other order")
    ranges: Left = {}
    for each in left:
        try:
            index, start, end = map(int, each.split("."))
        except ValueError:
            index = start = end = -1
        if not 0 <= start <= end <= _MAX_OFFSET:
            raise InvalidRequest("The cursor is malformed")
        ranges[index] = start, end
    return ranges
