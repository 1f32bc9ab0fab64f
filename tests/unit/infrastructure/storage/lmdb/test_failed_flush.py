"""flush = interval when a flush fails."""

from __future__ import annotations

import errno
import resource
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lmdb
import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb import recovery_point
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import SLOT_BYTES, UNSYNCED_FILE, RecoveryPoint
from tests.fakes.limits import limited
from tests.unit.infrastructure.storage.lmdb.reopening import (
    after_a_kill,
    after_a_reboot,
    committed,
    flush,
    flushed,
    got,
    newest,
    opened,
    put,
)


class FailingSync:
    """fsync fails once and then succeeds, although pages are lost, as on Linux."""

    def __init__(self, patch: pytest.MonkeyPatch, failures: int = 1) -> None:
        self.started, self.go_on = threading.Event(), threading.Event()
        self.failures = failures
        sync = LmdbEnvironment.sync

        def failing(environment: LmdbEnvironment) -> None:
            self.started.set()
            assert self.go_on.wait(30)
            self.failures -= 1
            if self.failures >= 0:
                raise OSError(errno.EIO, "Input/output error")
            sync(environment)

        patch.setattr(LmdbEnvironment, "sync", failing)


def test_after_a_failed_fsync_later_ones_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = flushed(tmp_path)
    _, synced_root = newest(tmp_path)
    put(storage, b"perhaps lost")

    failing = FailingSync(monkeypatch)
    assert storage.start_flush is not None
    storage.start_flush()
    assert failing.started.wait(30)
    put(storage, b"while the fsync is under way")
    failing.go_on.set()
    flush(storage)
    number, root = newest(tmp_path)
    flush(storage)

    assert newest(tmp_path) == (number, root) == (number, synced_root)
    storage.state.put("table", b"key", b"too late")
    assert not committed(storage)
    storage.commit.close()
    again = opened(tmp_path)  # on the same boot
    assert got(again) == b"flushed"
    assert "an fsync failed" in (again.info.power_cut or "")
    put(again, b"new")
    again.commit.close()
    reopened = opened(tmp_path)
    assert got(reopened) == b"new"
    assert reopened.info.power_cut is None


def test_an_fsync_that_fails_at_the_close_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = flushed(tmp_path, b"perhaps lost")
    FailingSync(monkeypatch).go_on.set()
    with pytest.raises(StorageFailed):
        storage.commit.close()

    again = opened(tmp_path)

    assert got(again) == b"flushed"


def test_a_map_that_grows_after_a_failed_fsync_has_no_newer_recovery_point(tmp_path: Path) -> None:
    environment = LmdbEnvironment(tmp_path, "interval", 1 << 20)
    _, synced_root = newest(tmp_path)
    with environment.env.begin(write=True, db=environment.rows) as txn:
        txn.put(b"key", b"perhaps lost")
    environment.recovery_point.lose()

    environment.grow()

    assert newest(tmp_path)[1] == synced_root
    environment.close()


def test_a_flush_that_ends_after_a_later_one_changes_nothing(tmp_path: Path) -> None:
    environment = LmdbEnvironment(tmp_path, "interval")
    point = environment.recovery_point
    earlier = point.begin(environment.env)
    with environment.env.begin(write=True, db=environment.rows) as txn:
        txn.put(b"key", b"value")
    environment.keep_newest()
    kept = newest(tmp_path)

    point.sync_and_persist(earlier, environment.sync)

    assert newest(tmp_path) == kept
    environment.close()


def test_a_flush_that_ends_while_the_map_grows_is_no_failed_one(tmp_path: Path) -> None:
    """The new map ends the transactions that the flush's thread has."""
    environment = LmdbEnvironment(tmp_path, "interval")
    point = environment.recovery_point
    pinned = point.begin(environment.env)
    environment.env.set_mapsize(environment.map_size_bytes + (1 << 20))
    point.sync_and_persist(pinned, environment.sync)
    assert not RecoveryPoint(tmp_path).was_cut_off
    environment.close()


class Unsyncable:
    """An environment of LMDB, but for its fsync."""

    def __init__(self, kind: type[lmdb.Environment], place: str, **how: Any) -> None:
        self._inner = kind(place, **how)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def sync(self, _force: bool) -> None:
        raise lmdb.Error("Input/output error")


@pytest.mark.parametrize("policy", ["commit", "interval"])
def test_an_fsync_that_fails_at_the_start_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: Flush
) -> None:
    flushed(tmp_path / "store", b"of the page cache")
    killed = after_a_kill(tmp_path / "store", tmp_path / "killed")
    with monkeypatch.context() as patch:
        patch.setattr(lmdb, "Environment", partial(Unsyncable, lmdb.Environment))
        with pytest.raises(StorageUnusable):
            opened(killed, policy)

    again = opened(killed, policy)

    assert got(again) == b"flushed"


def test_a_flush_opens_no_file(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    number, _ = newest(tmp_path / "store")
    put(storage, b"flushed")

    with limited(resource.RLIMIT_NOFILE, 3):
        flush(storage)

    put(storage, b"not flushed")
    assert newest(tmp_path / "store")[0] == number + 1
    killed = opened(after_a_kill(tmp_path / "store", tmp_path / "killed"))
    cut_off = opened(after_a_reboot(tmp_path / "store", tmp_path / "cut off"))
    assert (got(killed), got(cut_off)) == (b"not flushed", b"flushed")


@pytest.mark.parametrize(
    "where, error",
    [("os.pread", OSError(errno.EIO, "?")), ("threading.Thread.start", RuntimeError("no thread"))],
)
def test_a_flush_that_cannot_start_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: Exception
) -> None:
    storage = opened(tmp_path)
    number, _ = newest(tmp_path)
    put(storage, b"value")
    assert storage.start_flush is not None
    with monkeypatch.context() as patch:
        patch.setattr(where, failing_with(error))
        with pytest.raises(StorageFailed, match="could not begin to flush"):
            storage.start_flush()
    assert newest(tmp_path)[0] == number

    flush(storage)

    assert newest(tmp_path)[0] == number + 1
    put(storage, b"more")


def test_a_slot_that_cannot_be_written_leaves_the_previous_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(tmp_path)
    before = newest(tmp_path)
    put(storage, b"value")
    with monkeypatch.context() as patch:
        patch.setattr("os.pwrite", failing_with(OSError(errno.ENOSPC, "full")))
        flush(storage)
    assert newest(tmp_path) == before
    put(storage, b"more")

    flush(storage)

    assert newest(tmp_path)[0] == before[0] + 1


def failing_with(error: Exception) -> Callable[..., int]:
    def fails(*_: object) -> int:
        raise error

    return fails


def test_both_slots_are_allocated_at_the_start(tmp_path: Path) -> None:
    opened(tmp_path)
    assert (tmp_path / UNSYNCED_FILE).stat().st_blocks * 512 >= 2 * SLOT_BYTES


def test_the_folder_is_synced_also_if_a_killed_process_created_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path).commit.close()
    (tmp_path / UNSYNCED_FILE).touch()
    synced: list[Path] = []
    monkeypatch.setattr(recovery_point, "sync_folder", synced.append)

    storage = opened(tmp_path)
    assert synced == [tmp_path]
    put(storage, b"value")
    flush(storage)

    assert synced == [tmp_path]
