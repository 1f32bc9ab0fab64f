from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from domain.errors import StorageFailed
from domain.messages.batch import HEADER_BYTES
from infrastructure.storage.lmdb import log_store
from infrastructure.storage.lmdb.entries import (
    FULL_ENTRY_BATCHES,
    SMALL_BATCH_BYTES,
)
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.lmdb.parts import PART_BYTES, WHOLE_BYTES
from tests.contract.batches import batch
from tests.unit.infrastructure.storage.lmdb.test_write_pass import Store

ALL = 1 << 62
LARGE_BYTES = 20 * PART_BYTES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.environment.close()


def entry_sizes(store: Store) -> list[int]:
    environment = store.environment
    with environment.env.begin() as txn:
        return [len(value) for _, value in txn.cursor(environment.batches)]


def test_small_batches_of_one_pass_share_entries(store: Store) -> None:
    size_bytes = 3000
    count = 2 * (WHOLE_BYTES // size_bytes)
    for offset in range(count):
        store.log.append(1, offset, batch(offset, size_bytes=size_bytes))
    assert store.write_pass.commit() is None

    sizes = entry_sizes(store)
    assert sum(sizes) == count * size_bytes
    assert len(sizes) == 2
    assert all(size <= WHOLE_BYTES for size in sizes)


def test_an_entry_has_a_limited_number_of_batches(store: Store) -> None:
    count = 2 * FULL_ENTRY_BATCHES + 1
    for offset in range(count):
        store.log.append(1, offset, batch(offset))
    assert store.write_pass.commit() is None

    size_bytes = len(batch(0))
    full = FULL_ENTRY_BATCHES * size_bytes
    assert entry_sizes(store) == [full, full, size_bytes]
    assert store.log.read(1, count - 1, ALL, ALL, True) == batch(count - 1)


def test_a_large_batch_has_its_own_entry(store: Store) -> None:
    before, after = batch(0), batch(2)
    large = batch(1, size_bytes=SMALL_BATCH_BYTES + 1)
    for offset, one in enumerate((before, large, after)):
        store.log.append(1, offset, one)
    assert store.write_pass.commit() is None

    assert entry_sizes(store) == [len(before), len(large), len(after)]
    assert store.log.read(1, 0, ALL, ALL, True) == before + large + after


@pytest.mark.parametrize(
    "size_bytes, parts",
    [
        (40_000, [40_000]),
        (WHOLE_BYTES, [WHOLE_BYTES]),
        (WHOLE_BYTES + 1, [*(4 * [PART_BYTES]), WHOLE_BYTES + 1 - 4 * PART_BYTES]),
        (LARGE_BYTES, 20 * [PART_BYTES]),
    ],
)
def test_a_large_batch_is_stored_in_parts_of_four_pages(
    store: Store, size_bytes: int, parts: list[int]
) -> None:
    batches = [batch(offset, b"%d" % offset, size_bytes=size_bytes) for offset in range(3)]
    for offset, one in enumerate(batches):
        store.log.append(1, offset, one)
    assert store.write_pass.commit() is None

    assert entry_sizes(store) == 3 * parts
    for offset in range(3):
        for end in range(4):
            window = b"".join(batches[offset:end])
            assert store.log.read_to(1, offset, end, ALL, True) == (window, max(offset, end))
        assert store.log.read_to(1, offset, 3, 0, True) == (batches[offset], offset + 1)
        assert store.log.read_to(1, offset, 3, size_bytes - 1, False) == (b"", offset)
        left = [one[:HEADER_BYTES] for one in batches[offset:]]
        assert store.log.headers(1, offset, 9) == left


def test_all_parts_of_a_batch_are_removed(store: Store) -> None:
    for offset in range(4):
        store.log.append(1, offset, batch(offset, size_bytes=LARGE_BYTES))
    assert store.write_pass.commit() is None

    assert store.log.trim(1, 1, 256) == (LARGE_BYTES, True)
    assert store.log.replace(1, 1, 1, [batch(1)], []) == len(batch(1)) - LARGE_BYTES
    assert store.write_pass.commit() is None
    assert entry_sizes(store) == [len(batch(1)), *(40 * [PART_BYTES])]
    assert store.log.drop(1, 256)
    assert store.write_pass.commit() is None
    assert entry_sizes(store) == []


def test_a_missing_part_is_a_storage_failure_for_its_batch_only(store: Store) -> None:
    batches = [batch(offset, size_bytes=LARGE_BYTES) for offset in range(3)]
    for offset, one in enumerate(batches):
        store.log.append(1, offset, one)
    assert store.write_pass.commit() is None
    environment = store.environment
    with environment.env.begin(write=True) as txn:
        assert txn.delete(KEY.pack(1, 1) + b"\0\0\0\2", db=environment.batches)

    with pytest.raises(StorageFailed, match="a part of the batch up to offset 1 is missing"):
        store.log.read(1, 1, ALL, ALL, True)
    assert store.log.read(1, 0, 1, ALL, True) == batches[0]
    assert store.log.read(1, 2, ALL, ALL, True) == batches[2]


def test_large_batches_are_trimmed_in_smaller_slices(store: Store) -> None:
    large = 1 << 20
    for offset in range(5):
        store.log.append(1, offset, batch(offset, size_bytes=large))
        assert store.write_pass.commit() is None

    slices = [store.log.trim(1, 5, 256) for _ in range(3)]
    assert store.write_pass.commit() is None

    assert slices == [(2 * large, False), (2 * large, False), (large, True)]
    assert entry_sizes(store) == []


def test_replaced_batches_share_entries_with_their_neighbours(store: Store) -> None:
    batches = [batch(offset, size_bytes=20_000) for offset in range(6)]
    for offset, one in enumerate(batches):
        store.log.append(1, offset, one)
    assert store.write_pass.commit() is None
    assert entry_sizes(store) == [60_000, 60_000]

    small = [batch(offset, size_bytes=100) for offset in (1, 4)]
    assert store.log.replace(1, 1, 4, small, []) == -79_800
    assert store.write_pass.commit() is None

    assert entry_sizes(store) == [40_200]
    assert store.log.read(1, 0, ALL, ALL, True) == b"".join((batches[0], *small, batches[5]))


def test_a_failed_pass_replaces_nothing(store: Store) -> None:
    store.log.append(1, 0, batch(0))
    assert store.write_pass.commit() is None
    store.write_pass.fail("no more of this")

    assert store.log.replace(1, 0, 0, [], []) == 0
    assert store.write_pass.commit() is not None
    assert store.log.read(1, 0, ALL, ALL, True) == batch(0)


def test_a_failed_pass_trims_nothing(store: Store) -> None:
    store.log.append(1, 0, batch(0))
    assert store.write_pass.commit() is None
    store.write_pass.fail("no more of this")

    assert store.log.trim(1, 1, 256) == (0, False)
    assert store.write_pass.commit() is not None
    assert store.log.trim(1, 1, 256) == (len(batch(0)), True)


def test_batches_of_a_failed_pass_are_dropped(store: Store) -> None:
    store.log.append(1, 0, batch(0))
    store.write_pass.fail("no more of this")
    assert store.write_pass.commit() is not None

    store.log.append(1, 0, batch(0, b"again"))
    assert store.write_pass.commit() is None
    assert store.log.read(1, 0, ALL, ALL, True) == batch(0, b"again")


@pytest.mark.parametrize(
    "read",
    [
        lambda log: log.read(1, 0, ALL, ALL, True),
        lambda log: log.headers(1, 0, 10),
        lambda log: log.at_timestamp(1, 10),
        lambda log: log.partition_ids(),
    ],
    ids=["read", "headers", "at_timestamp", "partition_ids"],
)
def test_a_damaged_key_is_a_storage_failure(
    store: Store, read: Callable[[LmdbLogStore], object]
) -> None:
    environment = store.environment
    with environment.env.begin(write=True) as txn:
        txn.put(KEY.pack(1, 0) + b"?", b"value", db=environment.batches)
        txn.put(KEY.pack(1, 0) + b"?", b"value", db=environment.timestamps)

    with pytest.raises(StorageFailed, match="could not read"):
        read(store.log)


def test_a_damaged_key_fails_the_pass_that_deletes_it(store: Store) -> None:
    environment = store.environment
    with environment.env.begin(write=True) as txn:
        txn.put(KEY.pack(1, 0) + b"?", b"value", db=environment.batches)

    assert not store.log.drop(1, 10)

    failure = store.write_pass.commit()
    assert failure is not None and "could not stage" in failure.message
    store.log.append(2, 0, batch(0))
    assert store.write_pass.commit() is None


class Counted:
    """An LMDB environment, transaction or cursor that counts steps to the next key."""

    def __init__(self, inner: Any, steps: list[str]) -> None:
        self._inner, self._steps = inner, steps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __enter__(self) -> Counted:
        return Counted(self._inner.__enter__(), self._steps)

    def __exit__(self, *how: object) -> None:
        self._inner.__exit__(*how)

    def begin(self, **how: Any) -> Counted:
        return Counted(self._inner.begin(**how), self._steps)

    def cursor(self, database: object) -> Counted:
        return Counted(self._inner.cursor(database), self._steps)

    def next(self) -> bool:
        self._steps.append("next")
        return bool(self._inner.next())


@pytest.mark.parametrize(
    "read",
    [lambda log: log.headers(1, 0, 2), lambda log: log.read(1, 0, 2, ALL, True)],
    ids=["headers", "read"],
)
def test_no_other_entry_is_touched(store: Store, read: Callable[[LmdbLogStore], object]) -> None:
    """The first page of the next entry might be on disk only."""
    for offset in range(3):
        store.log.append(1, offset, batch(offset))
        assert store.write_pass.commit() is None
    steps: list[str] = []
    store.log._env = cast(Any, Counted(store.log._env, steps))

    assert read(store.log)

    assert steps == ["next"]


def test_large_batches_are_dropped_in_several_commits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store, "_DROPPED_AT_ONCE_BYTES", 100_000)
    for offset in range(6):
        store.log.append(1, offset, batch(offset, size_bytes=40_000))
        assert store.write_pass.commit() is None

    assert not store.log.drop(1, 10)
    assert store.write_pass.commit() is None
    assert len(store.log.headers(1, 0, 10)) == 3
    assert store.log.drop(1, 10)
    assert store.write_pass.commit() is None
    assert store.log.partition_ids() == []
