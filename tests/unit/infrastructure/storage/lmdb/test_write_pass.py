from __future__ import annotations

import errno
import mmap
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from infrastructure.storage.lmdb.commit import WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from tests.contract.batches import batch

ALL = 1 << 62


class Store:
    def __init__(self, folder: Path, map_size_bytes: int) -> None:
        self.environment = LmdbEnvironment(folder, "os", map_size_bytes)
        self.write_pass = WritePass(self.environment)
        self.log = LmdbLogStore(self.environment, self.write_pass)

    def append(self, offset: int, size_bytes: int = 10) -> str | None:
        """One batch, one commit; the words of the failure."""
        self.log.append(1, offset, batch(offset, size_bytes=size_bytes))
        failure = self.write_pass.commit()
        return failure and failure.message

    def count(self) -> int:
        return len(self.log.headers(1, 0, 1 << 30))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path, 1 << 20)
    yield opened
    opened.environment.close()


def test_a_transaction_lives_from_the_first_change_to_the_commit(store: Store) -> None:
    assert store.write_pass.txn is None
    store.log.append(1, 0, batch(0))
    assert store.write_pass.txn is not None
    store.write_pass.commit()
    assert store.write_pass.txn is None


def test_a_second_batch_at_one_offset_fails_the_pass(store: Store) -> None:
    assert store.append(5) is None
    store.log.append(1, 6, batch(6))

    assert store.append(5) == "The store could not stage: partition 1 has a batch at 5 already"
    assert store.count() == 1
    assert store.append(6) is None


def test_a_map_is_grown_before_it_is_full(store: Store) -> None:
    assert all(store.append(offset, 10_000) is None for offset in range(400))

    assert store.environment.map_size_bytes >= 4 << 20
    assert store.count() == 400


def test_after_a_full_map_the_same_batch_fits(store: Store) -> None:
    assert store.append(0, 100) is None
    assert store.append(1, 30 << 20) == "The store could not stage: its map is full"
    assert store.append(1, 30 << 20) is None
    assert store.count() == 2


def test_a_map_that_fills_up_within_one_pass_grows_until_the_pass_fits(store: Store) -> None:
    for _ in range(10):
        for offset in range(100):
            store.log.append(1, offset, batch(offset, size_bytes=100_000))
        if store.write_pass.commit() is None:
            break

    assert store.count() == 100


def test_where_there_is_no_more_address_space_the_store_is_full_and_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LMDB would give up the map it has before it asks for the larger one."""
    reserve = mmap.mmap

    def at_most_8_mib_more(descriptor: int, size_bytes: int, **how: int) -> mmap.mmap:
        if size_bytes > 72 << 20:  # 64 MiB are left for others
            raise OSError(errno.ENOMEM, "no more address space")
        return reserve(descriptor, size_bytes, **how)

    monkeypatch.setattr(mmap, "mmap", at_most_8_mib_more)
    full = "The store could not stage: its map is full"
    assert store.append(0, 20 << 20) == full
    assert store.append(0, 20 << 20) == full
    assert store.append(0, 5 << 20) == full
    assert store.append(0, 5 << 20) is None
    assert store.count() == 1

    monkeypatch.undo()
    assert store.append(1, 20 << 20) == full
    assert store.append(1, 20 << 20) is None


def test_the_system_may_give_no_more_address_space(tmp_path: Path) -> None:
    """For real, in a process of its own: the store is full, and still there to be read."""
    done = subprocess.run(
        [sys.executable, "-c", _UNTIL_FULL, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["full", "readable"], done.stderr


_UNTIL_FULL = """
import resource, sys
from pathlib import Path
from tests.unit.infrastructure.storage.lmdb.test_write_pass import Store

store = Store(Path(sys.argv[1]), 1 << 20)
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (160 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
outcomes = [store.append(offset, 100_000) for offset in range(1600)]
print("full" if outcomes[-1] == "The store could not stage: its map is full" else outcomes[-1])
print("readable" if store.count() == outcomes.count(None) >= 200 else outcomes)
"""


def test_freed_pages_are_used_again(store: Store) -> None:
    for offset in range(300):
        assert store.append(offset, 50_000) is None
        store.log.drop(1, 5 if offset % 5 == 4 else 0)
        assert store.write_pass.commit() is None

    assert store.environment.used_bytes < 2 << 20


def test_a_disk_that_takes_no_more_fails_the_commit_and_the_store_goes_on(store: Store) -> None:
    assert store.append(0) is None
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        failure = store.append(1, 500_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert failure == (
        "The store could not commit: the disk is full, or reported an input/output error"
    )
    assert store.count() == 1
    assert store.append(1, 500_000) is None
    assert store.count() == 2


def test_on_a_full_disk_what_was_dropped_makes_room_for_the_second_try(store: Store) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        kept = next(offset for offset in range(1000) if store.append(offset, 10_000))
        store.log.drop(1, kept // 2)
        assert store.write_pass.commit() is None
        tries = [store.append(kept, 10_000) for _ in range(2)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert tries[1] is None
    assert store.count() == kept - kept // 2 + 1


def reported(kind: type[lmdb.Error], code: int) -> lmdb.Error:
    """As LMDB itself reports it; py-lmdb's own errors have no code."""
    error = kind("mdb_call: words of LMDB")
    error.code = code  # type: ignore[misc]
    return error


def test_after_a_lost_flush_nothing_more_is_promised(store: Store) -> None:
    assert store.append(0) is None
    store.write_pass.lose(reported(lmdb.Error, errno.EIO))

    for _ in range(2):
        assert store.append(1) == (
            "The store could not flush; restart the broker: "
            "the disk is full, or reported an input/output error"
        )
    assert store.count() == 1


@pytest.mark.parametrize(
    "error, words",
    [
        (reported(lmdb.DiskError, errno.ENOSPC), "no space is left on the disk"),
        (reported(lmdb.PanicError, -30795), "an earlier commit failed halfway; restart the broker"),
        (reported(lmdb.Error, errno.EFBIG), "mdb_call: words of LMDB"),
        (lmdb.Error("words of py-lmdb"), "words of py-lmdb"),
    ],
)
def test_failures_are_told_in_words(store: Store, error: lmdb.Error, words: str) -> None:
    store.log.append(1, 0, batch(0))
    store.write_pass.fail(error)

    failure = store.write_pass.commit()
    assert failure is not None
    assert failure.message == f"The store could not stage: {words}"
    assert failure.__cause__ is error
