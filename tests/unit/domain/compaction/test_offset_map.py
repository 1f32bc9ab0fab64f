from __future__ import annotations

import tracemalloc

from domain.compaction.offset_map import ENTRY_BYTES, OffsetMap
from domain.compaction.records import LONGEST_KEY, Records


def records(keys: list[bytes | None], first_offset: int) -> Records:
    offsets = [first_offset + place for place in range(len(keys))]
    return Records(keys, offsets, [])


def test_the_last_record_of_a_key_is_the_newest() -> None:
    offset_map = OffsetMap(10 * ENTRY_BYTES)
    offset_map.add(records([b"a", b"b", b"a"], 5))
    assert offset_map.newest(records([b"a", b"b", b"a", b"c"], 5)) == [False, True, True, True]
    assert offset_map.newest(records([b"a", b"c"], 0)) == [False, True]


def test_records_without_a_key_are_never_the_newest() -> None:
    offset_map = OffsetMap(10 * ENTRY_BYTES)
    offset_map.add(records([None, b"a", None], 5))
    assert offset_map.newest(records([None, b"a", None], 5)) == [False, True, False]
    assert offset_map.utilization == 0.1


def test_a_map_finds_the_offsets_that_have_the_newest_record_of_a_key() -> None:
    offset_map = OffsetMap(10 * ENTRY_BYTES)
    offset_map.add(records([b"a", b"b", None, b"a"], 5))
    offset_map.add_unreadable(12)
    offset_map.complete()
    assert offset_map.newest_between(0, 20) == [6, 8, 12]
    assert offset_map.newest_between(6, 7) == [6]
    assert offset_map.newest_between(9, 11) == []
    assert [offset for offset in range(20) if offset_map.is_unreadable(offset)] == [12]


def test_a_map_has_room_for_its_entries_or_for_one_batch() -> None:
    offset_map = OffsetMap(4 * ENTRY_BYTES)
    assert offset_map.has_room(100)
    offset_map.add(records([b"a", b"b", b"c"], 0))
    assert offset_map.has_room(1)
    assert not offset_map.has_room(2)
    assert offset_map.utilization == 0.75


def test_an_entry_takes_no_more_memory_than_is_counted_for_it() -> None:
    """Also while the table grows: at two thirds of 2^16 entries it does."""
    count = (1 << 17) // 3 + 1
    offset_map = OffsetMap(count * ENTRY_BYTES)
    tracemalloc.start()
    for first in range(0, count, 64):
        keys: list[bytes | None] = [b"%0*d" % (LONGEST_KEY, first + i) for i in range(64)]
        offset_map.add(records(keys, (1 << 40) + first))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ENTRY_BYTES * 0.8 < peak / count < ENTRY_BYTES
