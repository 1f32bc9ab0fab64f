"""A cursor: where the next page of a scan begins, in a word that a client hands back.

It holds the order, and of each partition that is left its index, the first offset and the one after
the last. It may come back from anybody, so what it says is held against what there is, and can only
ever narrow it.
"""

from __future__ import annotations

from application.records.plan import MAX_PARTITIONS, OffsetRange
from domain.errors import InvalidRequest

_MAX_OFFSET = 2**63 - 1
_ORDERS = ("oldest", "newest")

#: By partition: first offset, and the one after the last.
Left = dict[int, tuple[int, int]]


def write_cursor(ranges: list[OffsetRange], newest_first: bool) -> str | None:
    """None when nothing is left."""
    left = [f"{each.index}.{each.start}.{each.end}" for each in ranges if not each.is_done]
    return "-".join([_ORDERS[newest_first], *left]) if left else None


def read_cursor(cursor: str, newest_first: bool) -> Left:
    """Raises InvalidRequest when it is not one that was written for such a scan."""
    order, *left = cursor.split("-")
    if order not in _ORDERS or not 0 < len(left) <= MAX_PARTITIONS:
        raise InvalidRequest("The cursor is not one that was given out")
    if order != _ORDERS[newest_first]:
        raise InvalidRequest("The cursor is of a scan in the other order")
    ranges: Left = {}
    for each in left:
        try:
            index, start, end = map(int, each.split("."))
        except ValueError:
            index = start = end = -1
        if not 0 <= start <= end <= _MAX_OFFSET:
            raise InvalidRequest("The cursor is not one that was given out")
        ranges[index] = start, end
    return ranges
