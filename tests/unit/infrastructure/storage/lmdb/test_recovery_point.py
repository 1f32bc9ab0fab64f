from __future__ import annotations

import errno
import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb import recovery_point
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import (
    SLOT_BYTES,
    UNSYNCED_FILE,
    RecoveryPoint,
)
from infrastructure.storage.opening import Storage, open_storage
from tests.fakes.batches import record_batch
from tests.fakes.machine import restart_machine


def opened(folder: Path, flush: Flush = "interval") -> Storage:
    return open_storage(f"lmdb://{folder}", flush)


def put(storage: Storage, value: bytes, key: bytes = b"key") -> None:
    storage.state.put("table", key, value)
    assert committed(storage)


def got(storage: Storage, key: bytes = b"key") -> bytes | None:
    return storage.state.get("table", key)


def flush(storage: Storage) -> None:
    """As once a second, and waits for its end."""
    assert storage.start_flush is not None
    storage.start_flush()
    flushing = storage.commit._flushing  # type: ignore[attr-defined]
    assert flushing is not None
    flushing.join()


def as_it_is(folder: Path, copy: Path) -> Path:
    """What a killed process leaves: the page cache has all it wrote."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("lock.mdb"))
    return copy


def after_a_restart(folder: Path, copy: Path) -> Path:
    """The same on a machine that has been restarted since: the boot id is another one."""
    restart_machine(as_it_is(folder, copy))
    return copy


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    put(storage, b"flushed")
    flush(storage)
    put(storage, b"not flushed")

    again = opened(as_it_is(tmp_path / "store", tmp_path / "copy"))

    assert got(again) == b"not flushed"
    assert again.info.power_cut is None
    again.commit.close()
    storage.commit.close()


def test_after_a_power_cut_the_store_is_as_of_the_newest_flush(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    for number in range(300):
        put(storage, b"%d" % number * 500, b"%d" % (number % 40))
        if number == 200:
            flush(storage)
            expected = storage.state.scan("table")
    assert storage.state.scan("table") != expected

    again = opened(after_a_restart(tmp_path / "store", tmp_path / "copy"))

    assert again.state.scan("table") == expected
    assert "as of the newest flush" in (again.info.power_cut or "")
    again.commit.close()
    storage.commit.close()


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_what_comes_after_a_restored_root_is_kept_like_anything_else(
    tmp_path: Path, policy: Flush
) -> None:
    storage = opened(tmp_path / "store")
    put(storage, b"flushed")
    flush(storage)
    put(storage, b"lost")
    restored = opened(after_a_restart(tmp_path / "store", tmp_path / "copy"), policy)
    put(restored, b"new")

    again = opened(as_it_is(tmp_path / "copy", tmp_path / "second copy"))

    assert got(again) == b"new"
    for each in (storage, restored, again):
        each.commit.close()


def test_a_second_cut_before_the_first_flush_leads_to_the_same_state(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    put(storage, b"flushed")
    flush(storage)
    put(storage, b"lost")
    restored = opened(after_a_restart(tmp_path / "store", tmp_path / "copy"))
    put(restored, b"lost too")

    again = opened(after_a_restart(tmp_path / "copy", tmp_path / "second copy"))

    assert got(again) == b"flushed"
    for each in (storage, restored, again):
        each.commit.close()


def test_a_torn_slot_leaves_the_one_before(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    for value in (b"one", b"two"):
        put(storage, value)
        flush(storage)
    copy = after_a_restart(tmp_path / "store", tmp_path / "copy")
    newest = RecoveryPoint(copy).found
    assert newest is not None
    with (copy / UNSYNCED_FILE).open("r+b") as file:
        file.seek(newest.number % 2 * SLOT_BYTES + 100)
        file.write(b"torn")

    again = opened(copy)

    assert got(again) == b"one"
    again.commit.close()
    storage.commit.close()


@pytest.mark.parametrize("policy", ["interval", "os"])
def test_a_store_that_was_closed_in_order_has_no_recovery_point(
    tmp_path: Path, policy: Flush
) -> None:
    storage = opened(tmp_path, policy)
    put(storage, b"value")
    assert (tmp_path / UNSYNCED_FILE).exists()

    storage.commit.close()

    assert not (tmp_path / UNSYNCED_FILE).exists()


@pytest.mark.parametrize("policy", ["interval", "os"])
def test_with_flush_commit_what_a_killed_process_left_is_synced_first(
    tmp_path: Path, policy: Flush
) -> None:
    storage = opened(tmp_path / "store", policy)
    put(storage, b"value")
    copy = as_it_is(tmp_path / "store", tmp_path / "copy")

    again = opened(copy, "commit")

    assert got(again) == b"value"
    assert not (copy / UNSYNCED_FILE).exists()
    again.commit.close()
    storage.commit.close()


def test_pages_are_used_again_once_a_newer_root_is_synced(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    sizes = []
    for number in range(600):
        put(storage, bytes(100_000))
        if number % 10 == 9:
            flush(storage)
            sizes.append((tmp_path / "data.mdb").stat().st_size)

    assert sizes[-1] == sizes[10]
    storage.commit.close()


def test_a_map_grows_while_a_root_is_kept(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}/store", "interval", map_size_bytes=1 << 20)
    put(storage, b"flushed")
    flush(storage)
    for number in range(100):
        put(storage, bytes(50_000), b"%03d" % number)

    again = opened(after_a_restart(tmp_path / "store", tmp_path / "copy"))

    # A map that grows lets go of what was kept, so what was there then is synced.
    *others, (_, flushed) = again.state.scan("table")
    assert flushed == b"flushed"
    assert others == [(b"%03d" % number, bytes(50_000)) for number in range(len(others))]
    assert 0 < len(others) < len(storage.state.scan("table")) - 1 == 100
    again.commit.close()
    storage.commit.close()


def test_on_a_full_disk_what_was_dropped_makes_room_after_a_flush(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    try:
        kept = next(number for number in range(1000) if not fits(storage, b"%d" % number))
        flush(storage)
        for number in range(kept // 2):
            storage.state.put("table", b"%d" % number, None)
        assert committed(storage)
        for _ in range(2):
            flush(storage)
            room = fits(storage, b"more")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert room
    storage.commit.close()


def fits(storage: Storage, key: bytes) -> bool:
    storage.state.put("table", key, bytes(10_000))
    return committed(storage)


def committed(storage: Storage) -> bool:
    failures: list[object] = []
    storage.commit.commit(failures.append)
    return failures == [None]


# ---- an fsync that failed


class FailingSync:
    """The system reports once that pages could not be written, and then holds them for written."""

    def __init__(self, patch: pytest.MonkeyPatch, failures: int = 1) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.failures = failures
        sync = LmdbEnvironment.sync

        def failing(environment: LmdbEnvironment) -> None:
            self.begun.set()
            assert self.go_on.wait(30)
            self.failures -= 1
            if self.failures >= 0:
                raise OSError(errno.EIO, "Input/output error")
            sync(environment)

        patch.setattr(LmdbEnvironment, "sync", failing)


def newest(folder: Path) -> tuple[int, bytes]:
    found = RecoveryPoint(folder).found
    assert found is not None
    return found.number, found.root


def test_after_a_failed_fsync_no_later_one_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(tmp_path)
    put(storage, b"flushed")
    flush(storage)
    _, synced_root = newest(tmp_path)
    put(storage, b"perhaps lost")

    failing = FailingSync(monkeypatch)
    assert storage.start_flush is not None
    storage.start_flush()
    assert failing.begun.wait(30)
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
    reopened.commit.close()


def test_an_fsync_that_fails_when_the_store_is_closed_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(tmp_path)
    put(storage, b"flushed")
    flush(storage)
    put(storage, b"perhaps lost")
    FailingSync(monkeypatch).go_on.set()
    with pytest.raises(StorageFailed):
        storage.commit.close()

    again = opened(tmp_path)

    assert got(again) == b"flushed"
    again.commit.close()


def test_a_map_that_grows_after_a_failed_fsync_keeps_no_newer_root(tmp_path: Path) -> None:
    environment = LmdbEnvironment(tmp_path, "interval", 1 << 20)
    _, synced_root = newest(tmp_path)
    with environment.env.begin(write=True, db=environment.rows) as txn:
        txn.put(b"key", b"perhaps lost")
    environment.recovery_point.lose()

    environment.grow()

    assert newest(tmp_path)[1] == synced_root
    environment.close()


# ---- a flush that cannot be begun


@contextmanager
def limited(kind: int, limit: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


def test_a_flush_needs_no_descriptor_that_may_not_be_had(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    number, _ = newest(tmp_path / "store")
    put(storage, b"flushed")

    with limited(resource.RLIMIT_NOFILE, 3):
        flush(storage)

    put(storage, b"not flushed")
    assert newest(tmp_path / "store")[0] == number + 1
    killed = opened(as_it_is(tmp_path / "store", tmp_path / "killed"))
    cut_off = opened(after_a_restart(tmp_path / "store", tmp_path / "cut off"))
    assert (got(killed), got(cut_off)) == (b"not flushed", b"flushed")
    for each in (storage, killed, cut_off):
        each.commit.close()


@pytest.mark.parametrize(
    "where, error",
    [("os.pread", OSError(errno.EIO, "?")), ("threading.Thread.start", RuntimeError("no thread"))],
)
def test_a_flush_that_cannot_be_begun_is_tried_again(
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
    storage.commit.close()


def test_a_slot_that_cannot_be_written_leaves_the_one_before(
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
    storage.commit.close()


def failing_with(error: Exception) -> Callable[..., int]:
    def fails(*_: object) -> int:
        raise error

    return fails


def test_there_is_room_for_both_slots_from_the_start(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    assert (tmp_path / UNSYNCED_FILE).stat().st_blocks * 512 >= 2 * SLOT_BYTES
    storage.commit.close()


def test_the_files_name_is_synced_also_where_a_killed_process_made_it(
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
    storage.commit.close()


# ---- flush = os: all of it is looked at


def a_store_of_the_os(folder: Path) -> Storage:
    storage = opened(folder, "os")
    for offset in range(0, 50, 2):
        for each in (offset, offset + 1):  # they share an entry
            storage.log.append(1, each, record_batch([b"value" * 1000], base_offset=each))
        put(storage, b"%d" % (offset + 1))
    return storage


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_after_a_restart_a_store_that_is_whole_opens(tmp_path: Path, policy: Flush) -> None:
    storage = a_store_of_the_os(tmp_path / "store")

    again = opened(after_a_restart(tmp_path / "store", tmp_path / "copy"), policy)

    assert "is whole" in (again.info.power_cut or "")
    assert got(again) == b"49"
    again.commit.close()
    storage.commit.close()


def test_after_a_restart_a_page_that_is_missing_is_found(tmp_path: Path) -> None:
    storage = a_store_of_the_os(tmp_path / "store")
    copy = after_a_restart(tmp_path / "store", tmp_path / "copy")
    size_bytes = (copy / "data.mdb").stat().st_size
    with (copy / "data.mdb").open("r+b") as file:
        file.seek(2 * 4096)
        file.write(bytes(size_bytes - 2 * 4096))

    for _ in range(2):  # what is found is not forgotten
        with pytest.raises(StorageDamaged, match="flush=os, and the store is damaged") as refused:
            opened(copy, "os")
        assert "\n" not in str(refused.value)
    storage.commit.close()


def test_after_a_restart_a_batch_with_other_bytes_is_found(tmp_path: Path) -> None:
    storage = a_store_of_the_os(tmp_path / "store")
    copy = after_a_restart(tmp_path / "store", tmp_path / "copy")
    data = (copy / "data.mdb").read_bytes()
    place = data.index(b"valuevaluevalue" * 10)
    while place >= 0:  # in every version of every batch
        data = data[:place] + b"other" + data[place + 5 :]
        place = data.find(b"valuevaluevalue" * 300, place)
    (copy / "data.mdb").write_bytes(data)

    with pytest.raises(StorageDamaged, match="partition 1, offset 1: another checksum"):
        opened(copy, "os")
    storage.commit.close()
