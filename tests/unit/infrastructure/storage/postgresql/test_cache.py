"""The cache of batches: what it has is right, whatever was added, removed and evicted."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from infrastructure.storage.postgresql.cache import ENTRY_BYTES, CachedEntry, LogCache

SIZE = 400


def entry(start: int, last_offset: int) -> CachedEntry:
    return CachedEntry(start, last_offset, bytes(SIZE - ENTRY_BYTES))


def found(cache: LogCache, partition_id: int, offset: int) -> list[int]:
    return [one.last_offset for one in cache.from_offset(partition_id, offset)]


def test_entries_follow_each_other_without_a_gap() -> None:
    cache = LogCache(1 << 20)
    for one in (entry(0, 4), entry(5, 7), entry(9, 9)):
        cache.add(1, one)
    assert found(cache, 1, 0) == [4, 7]
    assert found(cache, 1, 5) == [7]
    assert found(cache, 1, 8) == []
    assert found(cache, 1, 9) == [9]
    assert found(cache, 1, 10) == found(cache, 2, 0) == []


def test_an_entry_begins_where_the_log_has_nothing_before_it() -> None:
    """Compaction leaves gaps."""
    cache = LogCache(1 << 20)
    cache.add(1, entry(3, 20))
    assert found(cache, 1, 3) == found(cache, 1, 15) == [20]
    assert found(cache, 1, 2) == []


def test_the_oldest_are_evicted() -> None:
    cache = LogCache(3 * SIZE)
    for number in range(5):
        cache.add(number % 2, entry(number // 2, number // 2))
    assert cache.size_bytes == 3 * SIZE
    assert [found(cache, 0, 0), found(cache, 0, 1), found(cache, 1, 1)] == [[], [1, 2], [1]]


def test_a_larger_entry_than_the_cache_stays_alone() -> None:
    cache = LogCache(SIZE // 2)
    cache.add(1, entry(0, 0))
    cache.add(1, entry(1, 1))
    assert found(cache, 1, 1) == [1]
    assert cache.size_bytes == SIZE


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_changes(seed: int) -> None:
    """Against a plain model: which offsets are there, of entries of one offset each."""
    chance = random.Random(seed)
    cache, model = LogCache(1 << 30), [set[int](), set[int]()]
    for _ in range(500):
        partition_id, offset = chance.randrange(2), chance.randrange(40)
        known = model[partition_id]
        if chance.random() < 0.7:
            cache.add(partition_id, entry(offset, offset))
            known.add(offset)
        else:
            last = offset + chance.randrange(10)
            cache.remove(partition_id, offset, last)
            known -= set(range(offset, last + 1))
        end = offset = chance.randrange(40)
        while end in known:
            end += 1
        assert found(cache, partition_id, offset) == list(range(offset, end))
        assert cache.size_bytes == SIZE * sum(map(len, model))


def test_small_entries_count_with_the_memory_they_take() -> None:
    most_bytes = 1 << 20
    tracemalloc.start()
    try:
        cache = LogCache(most_bytes)
        for offset in range(1000, 31_000):
            cache.add(1, CachedEntry(offset, offset, b"%070d" % offset))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes / 2 < taken < most_bytes * 1.5


def test_a_removal_copies_nothing_of_what_stays() -> None:
    """One of many would take as long as all of them."""
    cache = LogCache(1 << 30)
    for offset in range(20_000):
        cache.add(1, entry(offset, offset))
    tracemalloc.start()
    try:
        cache.remove(1, 10, 10)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000
    assert found(cache, 1, 10) == []
    assert len(found(cache, 1, 11)) == 20_000 - 11
