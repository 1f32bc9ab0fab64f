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
from infrastructure.storage.lmdb.entries import StagedEntries
from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, LmdbEnvironment
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from tests.contract.batches import batch
from tests.fakes.limits import limited

ALL = 1 << 62
FULL = "The store could not stage: its map is full"


class Store:
    def __init__(self, folder: Path, map_size_bytes: int = MAP_SIZE_BYTES) -> None:
        self.environment = LmdbEnvironment(folder, "os", map_size_bytes)
        entries = StagedEntries(self.environment.batches)
        self.write_pass = WritePass(self.environment, entries)
        self.log = LmdbLogStore(self.environment, self.write_pass, entries)

    def append(self, offset: int, size_bytes: int = 10) -> str | None:
        """Commits one batch; returns the message of the failure."""
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


def test_a_second_batch_at_an_offset_fails_the_pass(store: Store) -> None:
    assert store.append(5) is None
    store.log.append(1, 6, batch(6))

    assert "has a batch at 5" in str(store.append(5))
    assert store.count() == 1
    assert store.append(6) is None


def test_a_map_grows_before_it_is_full(store: Store) -> None:
    assert all(store.append(offset, 10_000) is None for offset in range(400))

    assert store.environment.map_size_bytes >= 4 << 20
    assert store.count() == 400


def test_after_a_full_map_the_same_batch_fits(store: Store) -> None:
    assert store.append(0, 100) is None
    assert store.append(1, 30 << 20) == FULL
    assert store.append(1, 30 << 20) is None
    assert store.count() == 2


def test_after_a_full_map_the_same_replacement_fits(store: Store) -> None:
    assert store.append(0, 100) is None
    outcomes = []
    for _ in range(2):
        store.log.replace(1, 0, 0, [batch(0, size_bytes=30 << 20)], [])
        failure = store.write_pass.commit()
        outcomes.append(failure and failure.message)
    assert outcomes == [FULL, None]
    assert store.count() == 1


def test_a_map_that_fills_up_within_one_pass_grows_until_the_pass_fits(store: Store) -> None:
    for _ in range(10):
        for offset in range(100):
            store.log.append(1, offset, batch(offset, size_bytes=100_000))
        if store.write_pass.commit() is None:
            break

    assert store.count() == 100


def test_without_more_address_space_the_store_is_full_and_continues(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LMDB would unmap the old map before it maps the larger one."""
    reserve = mmap.mmap

    def at_most_8_mib_more(descriptor: int, size_bytes: int, **how: int) -> mmap.mmap:
        if size_bytes > 72 << 20:  # 64 MiB are left for others
            raise OSError(errno.ENOMEM, "no more address space")
        return reserve(descriptor, size_bytes, **how)

    monkeypatch.setattr(mmap, "mmap", at_most_8_mib_more)
    assert store.append(0, 20 << 20) == FULL
    assert store.append(0, 20 << 20) == FULL
    assert store.append(0, 5 << 20) == FULL
    assert store.append(0, 5 << 20) is None
    assert store.count() == 1

    monkeypatch.undo()
    assert store.append(1, 20 << 20) == FULL
    assert store.append(1, 20 << 20) is None


def test_a_limit_of_the_address_space_makes_the_store_full(tmp_path: Path) -> None:
    """In a process of its own: the store is full, and can still be read."""
    done = subprocess.run(
        [sys.executable, "-c", _UNTIL_FULL, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["full", "readable"], done.stderr


_UNTIL_FULL = """
import resource, sys
from pathlib import Path
from tests.unit.infrastructure.storage.lmdb.test_write_pass import FULL, Store

store = Store(Path(sys.argv[1]), 1 << 20)
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (160 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
outcomes = [store.append(offset, 100_000) for offset in range(1600)]
print("full" if outcomes[-1] == FULL else outcomes[-1])
print("readable" if store.count() == outcomes.count(None) >= 200 else outcomes)
"""


def test_freed_pages_are_reused(store: Store) -> None:
    for offset in range(300):
        assert store.append(offset, 50_000) is None
        store.log.drop(1, 5 if offset % 5 == 4 else 0)
        assert store.write_pass.commit() is None

    assert store.environment.used_bytes < 2 << 20


def test_a_full_disk_fails_the_commit_and_the_store_continues(store: Store) -> None:
    assert store.append(0) is None
    with limited(resource.RLIMIT_FSIZE, 200_000):
        failure = store.append(1, 500_000)

    assert "could not commit: the disk is full" in str(failure)
    assert store.count() == 1
    assert store.append(1, 500_000) is None
    assert store.count() == 2


def test_on_a_full_disk_deleted_data_makes_room_for_the_second_try(store: Store) -> None:
    with limited(resource.RLIMIT_FSIZE, 1_000_000):
        count = next(offset for offset in range(1000) if store.append(offset, 10_000))
        store.log.drop(1, count // 2)
        assert store.write_pass.commit() is None
        tries = [store.append(count, 10_000) for _ in range(2)]

    assert tries[1] is None
    assert store.count() == count - count // 2 + 1


def reported(kind: type[lmdb.Error], code: int) -> lmdb.Error:
    """An error of LMDB; errors of py-lmdb have no code."""
    error = kind("mdb_call: words of LMDB")
    error.code = code  # type: ignore[misc]
    return error


def test_after_a_lost_flush_all_commits_fail(store: Store) -> None:
    assert store.append(0) is None
    store.write_pass.lose(reported(lmdb.Error, errno.EIO))

    for _ in range(2):
        assert "restart the broker" in str(store.append(1))
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
def test_failures_have_messages(store: Store, error: lmdb.Error, words: str) -> None:
    store.log.append(1, 0, batch(0))
    store.write_pass.fail(error)

    failure = store.write_pass.commit()
    assert failure is not None
    assert failure.message == f"The store could not stage: {words}"
    assert failure.__cause__ is error
