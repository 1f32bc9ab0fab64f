"""StreamIndex over every engine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from domain.errors import StorageFailed
from domain.streams.chunk import Chunk
from infrastructure.storage.repositories.stream_index import StoredStreamIndex
from tests.contract.engines import OpenStore

PARTITION_ID = 7
#: The sizes of each chunk, of one size and of many, with gaps of offsets between some.
SIZES: tuple[Sequence[int], ...] = ([5], [0, 0, 0], [1, 20, 3], [9] * 300, [2**31 - 1], [1, 2] * 50)
GAP = 10


def chunks_of(sizes: Sequence[Sequence[int]] = SIZES) -> list[Chunk]:
    chunks: list[Chunk] = []
    for number, each in enumerate(sizes):
        start, offset = (chunks[-1].end, chunks[-1].next_offset) if chunks else (0, 0)
        chunks.append(Chunk(start, offset + GAP * (number % 2), tuple(each)))
    return chunks


def filled(store: OpenStore, sizes: Sequence[Sequence[int]] = SIZES) -> StoredStreamIndex:
    """With other partitions around it."""
    index = StoredStreamIndex(store.state)
    for partition_id in (PARTITION_ID - 1, PARTITION_ID, PARTITION_ID + 1):
        for chunk in chunks_of(sizes):
            index.add(partition_id, chunk)
    return index


def all_of(index: StoredStreamIndex, partition_id: int = PARTITION_ID) -> list[Chunk]:
    """By positions, upwards."""
    found: list[Chunk] = []
    while (chunk := index.above(partition_id, found[-1].end if found else 0)) is not None:
        found.append(chunk)
    return found


def remove_below(index: StoredStreamIndex, offset: int, max_chunks: int) -> bool:
    """True if it was the last slice, as trimming removes them."""
    ends = index.below(PARTITION_ID, offset, max_chunks)
    for end in ends:
        index.remove(PARTITION_ID, end)
    return len(ends) < max_chunks


def test_an_empty_index_has_no_chunk(store: OpenStore) -> None:
    index = StoredStreamIndex(store.state)
    assert (index.above(PARTITION_ID, 0), index.newest(PARTITION_ID)) == (None, None)
    assert index.below(PARTITION_ID, 2**62, 10) == []
    assert index.drop(PARTITION_ID, 10)


def test_chunks_are_found_once_they_are_committed(store: OpenStore) -> None:
    index = filled(store)
    assert (index.above(PARTITION_ID, 0), index.newest(PARTITION_ID)) == (None, None)
    store.keep()
    assert all_of(index) == chunks_of()


def test_a_position_finds_the_chunk_that_ends_above_it(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    for chunk in chunks_of():
        for position in (chunk.start, (chunk.start + chunk.end) // 2, chunk.end - 1):
            assert index.above(PARTITION_ID, position) == chunk
    assert index.above(PARTITION_ID, chunks_of()[-1].end) is None
    assert index.above(PARTITION_ID, 2**63) is None


@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_the_newest_chunk_is_that_with_the_highest_positions(store: OpenStore, count: int) -> None:
    sizes = [[number % 100] for number in range(count)]
    index = filled(store, sizes)
    store.keep()
    assert index.newest(PARTITION_ID) == chunks_of(sizes)[-1]


def test_the_newest_chunk_may_be_anywhere_in_the_range_of_positions(store: OpenStore) -> None:
    index = StoredStreamIndex(store.state)
    for start in (0, 1, 2**31, 2**32, 2**62 - 5, 2**63 - 100):
        newest = Chunk(start, start, (10,))
        index.add(PARTITION_ID, newest)
        store.keep()
        assert index.newest(PARTITION_ID) == newest


def test_chunks_are_read_as_they_were_added(lasting_store: OpenStore) -> None:
    filled(lasting_store)
    lasting_store.keep()
    lasting_store.reopen()
    index = StoredStreamIndex(lasting_store.state)
    assert all_of(index) == chunks_of()
    assert index.newest(PARTITION_ID) == chunks_of()[-1]


def test_chunks_below_an_offset_are_removed_in_slices(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    below = chunks_of()[4].next_offset
    done = []
    for _ in range(3):
        done.append(remove_below(index, below, 2))
        store.keep()
    assert done == [False, False, True]
    assert all_of(index) == chunks_of()[5:]
    for other in (PARTITION_ID - 1, PARTITION_ID + 1):
        assert all_of(index, other) == chunks_of()


def test_a_chunk_with_a_record_at_the_offset_is_not_removed(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    inside = chunks_of()[3].next_offset - 1
    assert remove_below(index, inside, 100)
    store.keep()
    assert all_of(index) == chunks_of()[3:]


def test_the_newest_chunk_stays_so_that_positions_continue(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    for _ in range(2):
        assert remove_below(index, 2**62, 100)
        store.keep()
        assert all_of(index) == [chunks_of()[-1]] == [index.newest(PARTITION_ID)]


def test_a_slice_that_removes_all_but_the_newest_chunk_is_the_last_or_one_before(
    store: OpenStore,
) -> None:
    index = filled(store)
    store.keep()
    finished, rounds = False, 0
    while not finished:
        finished = remove_below(index, 2**62, len(SIZES) - 1)
        store.keep()
        rounds += 1
    assert rounds <= 2
    assert all_of(index) == [chunks_of()[-1]]


def test_a_deleted_partition_is_dropped_in_slices(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    done = []
    for _ in range(4):
        done.append(index.drop(PARTITION_ID, 2))
        store.keep()
    assert done == [False, False, False, True]
    assert all_of(index) == []
    assert all_of(index, PARTITION_ID - 1) == all_of(index, PARTITION_ID + 1) == chunks_of()


def test_a_damaged_row_is_a_failure_of_the_store(store: OpenStore) -> None:
    index = filled(store)
    store.keep()
    [(key, _)] = store.state.scan("positions", limit=1)
    store.state.put("positions", key, b"\0")
    store.keep()
    with pytest.raises(StorageFailed, match="positions"):
        index.above(PARTITION_ID - 1, 0)


def test_the_chunks_of_the_tests_follow_each_other() -> None:
    assert all(after.start == before.end for before, after in pairwise(chunks_of()))
