"""Batches that go together into an entry."""

from __future__ import annotations

from infrastructure.storage.postgresql.entries import MOST_ENTRY_BYTES, TIME, packed
from infrastructure.storage.postgresql.staged import Staged
from tests.contract.batches import HEADER_BYTES, batch

HALF = MOST_ENTRY_BYTES // 2


def test_entries_are_alike_whether_appended_or_replaced() -> None:
    sizes = (HALF, HALF, HALF, 100, MOST_ENTRY_BYTES + 1, 100)
    batches = [batch(offset, size_bytes=size) for offset, size in enumerate(sizes)]
    staged = Staged()
    for offset, one in enumerate(batches):
        staged.append(7, offset, one, 1000 + offset if offset % 2 else -1)
    staged.end()
    times = [(1000 + offset, offset) for offset in (1, 3, 5)]
    assert list(packed(7, batches, times)) == staged.added
    assert [one.last_offset for one in staged.added] == [1, 3, 4, 5]
    assert [list(TIME.iter_unpack(one.times)) for one in staged.added] == [
        *([time] for time in times[:2]), [], times[2:],
    ]  # fmt: skip
    assert staged.added[0].headers == batches[0][:HEADER_BYTES] + batches[1][:HEADER_BYTES]


def test_nothing_is_packed_into_nothing() -> None:
    assert list(packed(7, [], [(5, 9)])) == []


def test_a_place_in_the_index_goes_with_the_batch_behind_it() -> None:
    [entry] = packed(7, [batch(2), batch(5)], [(10, 1), (20, 5)])
    assert list(TIME.iter_unpack(entry.times)) == [(10, 1), (20, 5)]


def test_offsets_of_a_pass_ascend() -> None:
    staged = Staged()
    staged.append(7, 5, batch(5), -1)
    staged.append(7, 5, batch(5), -1)
    assert staged.why_not == "partition 7 has a batch at 5 already"
