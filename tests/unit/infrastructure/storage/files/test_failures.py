"""Calls of the system that fail: one clear line, nothing of the pass is visible, the next works."""

from __future__ import annotations

import errno
import gc
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lmdb
import pytest

from application.ports.log_store import NOT_INDEXED
from infrastructure.opening import open_storage
from infrastructure.storage.files import log_folder, rewriting
from infrastructure.storage.files.environment import FilesEnvironment
from infrastructure.storage.lmdb.own_rows import OwnRows
from tests.contract.batches import batch
from tests.contract.engines import Engine, OpenStore
from tests.fakes.files_store import ORDERS, FilesStore, P

LARGE = 40_000
Break = Callable[[pytest.MonkeyPatch], None]


def failing(error: int) -> Callable[..., Any]:
    def fail(*arguments: object, **named: object) -> None:
        raise OSError(error, os.strerror(error))

    return fail


def replaced(place: object, name: str, error: int = errno.EIO) -> Break:
    return lambda patch: patch.setattr(place, name, failing(error))


def short(error: int, most: int) -> Break:
    """Writes get so many bytes, and then an error."""

    def put(patch: pytest.MonkeyPatch) -> None:
        pwrite = os.pwrite
        patch.setattr(os, "pwrite", failing(error))

        def first(descriptor: int, pieces: Any, position: int) -> int:
            return pwrite(descriptor, b"".join(pieces)[:most], position)

        patch.setattr(os, "pwritev", first)

    return put


FAILURES: dict[str, Break] = {
    "a write": replaced(os, "pwritev", errno.ENOSPC),
    "a write that reports EIO": replaced(os, "pwritev"),
    "a short write": short(errno.ENOSPC, 33),
    "a sync of all files": replaced(log_folder, "sync_file_system"),
    "a full map": lambda patch: patch.setattr(OwnRows, "put", map_is_full),
}


def map_is_full(*arguments: object) -> None:
    raise lmdb.MapFullError("mdb_put: MDB_MAP_FULL: Environment mapsize limit reached")


def contents(store: FilesStore) -> dict[str, bytes]:
    return {name: (store.folder / name).read_bytes() for name in store.listing()}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("size_bytes", [100, LARGE])
@pytest.mark.parametrize("named", [False, True])
def test_a_failed_pass_leaves_the_store_as_it_was(
    store: FilesStore,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    size_bytes: int,
    named: bool,
) -> None:
    if named:
        store.name()
    data = store.fill([0], [1, 2])
    before = contents(store)
    with monkeypatch.context() as patch:
        FAILURES[what](patch)
        store.append(3, size_bytes)
        store.append(4, size_bytes, roll=True)
        store.append(0, size_bytes, partition_id=P + 1)
        store.storage.state.put("table", b"key", b"value")
        store.refused()
    assert contents(store) == before
    assert store.everything() == data
    assert store.everything(P + 1) == b""
    assert store.storage.state.get("table", b"key") is None
    data += store.append(3, size_bytes)
    other = store.append(0, size_bytes, partition_id=P + 1)
    store.keep()
    for _ in range(2):
        assert store.everything() == data
        assert store.everything(P + 1) == other
        store.reopen()


def test_a_failed_sync_of_one_file_fails_the_commit(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0])
    before = contents(store)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", failing(errno.EIO))
        store.append(1)
        assert store.refused() == ("The store could not stage: [Errno 5] Input/output error")
    assert contents(store) == before
    data += store.append(1)
    store.keep()
    store.reopen()
    assert store.everything() == data


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_may_not_grow_gets_nothing_of_the_pass(store: FilesStore) -> None:
    data = store.fill([0], size_bytes=3000)
    with files_of_at_most(4000):
        store.append(1, 2000)
        assert "File too large" in store.refused()
    assert store.path(0).stat().st_size == 3000
    assert store.everything() == data


@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_a_folder_or_file_that_cannot_be_made_fails_the_commit(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store.name()
    store.keep()
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(errno.EDQUOT))
        store.append(0)
        assert os.strerror(errno.EDQUOT) in store.refused()
    assert store.everything() == b""
    data = store.append(0)
    store.keep()
    store.reopen()
    assert store.everything() == data


def test_a_log_keeps_its_name_where_its_folder_cannot_be_renamed(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.name()
    data = store.fill([0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing(errno.EACCES))
        store.name(None)
        store.refused()
    assert store.path(0, folder="orders-0").exists()
    assert store.everything() == data
    store.name(None)
    store.keep()
    assert store.path(0).exists()


def test_a_folder_that_gets_no_name_after_the_commit_gets_it_at_the_next(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing(errno.EACCES))
        store.name()
        store.keep()
        assert store.everything() == data
    data += store.fill([1])
    assert store.path(1, folder="orders-0").exists()
    assert store.everything() == data


def test_a_segment_that_cannot_be_removed_goes_at_the_next_start(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0], [1])
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", failing(errno.EIO))
        assert store.log.trim(P, 1, 9).done
        store.keep()
    assert store.everything() == data[100:]
    assert store.path(0).exists()
    store.reopen()
    assert store.everything() == data[100:]
    assert not store.path(0).exists()


@pytest.mark.parametrize("fails_at", range(6))
def test_a_rewritten_segment_takes_its_place_later_where_it_could_not(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    data = store.fill([0, 1], [2])
    rename, calls = os.rename, []

    def fail_later(*names: str) -> None:
        calls.append(names)
        if len(calls) > fails_at:
            raise OSError(errno.EIO, "Input/output error")
        rename(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", fail_later)
        store.log.copy_before(P, 0)
        store.log.replace(P, 0, 0, [], [])
        store.keep()
        assert not store.log.copy_before(P, 1 << 63)
        store.keep()
    assert store.everything() == data[100:]
    store.reopen()
    assert store.everything() == data[100:]
    assert not [name for name in store.listing() if name.endswith((".cleaned", ".swap"))]


def test_a_full_map_of_rows_fails_the_pass_alone(tmp_path: Path) -> None:
    small = Engine(lambda place: open_storage(f"files://{place}", "os", map_size_bytes=1 << 20))
    store = OpenStore(small, tmp_path / "store")
    store.log.append(P, 0, batch(0, size_bytes=LARGE))
    store.keep()
    for number in range(3):
        for key in range(40):
            store.state.put("table", b"%d/%d" % (number, key), bytes(60_000))
        store.log.append(P, 1, batch(1, size_bytes=LARGE))
        failure = store.commit()
        if failure is None:
            break
        assert "its map is full" in str(failure)
        assert len(store.everything(P)) == LARGE
    store.reopen()
    assert len(store.everything(P)) == 2 * LARGE
    store.close()


@pytest.mark.parametrize("size_bytes", [100, LARGE])
def test_no_reference_to_a_buffer_outlives_an_append(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch, size_bytes: int
) -> None:
    store.fill([0])
    buffer = bytearray(batch(1, size_bytes=size_bytes))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwritev", failing(errno.ENOSPC))
        store.log.append(P, 1, memoryview(buffer), NOT_INDEXED)
        store.refused()
    gc.collect()
    buffer.clear()  # refused while a view of it exists
    assert sys.getrefcount(buffer) == 2


def test_a_failed_sync_of_the_environment_names_the_reason(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.fill([0])
    with monkeypatch.context() as patch:
        patch.setattr(FilesEnvironment, "sync", failing(errno.EIO))
        with pytest.raises(Exception, match="could not flush"):
            store.storage.commit.close()


def test_copying_stops_where_a_disk_is_full_and_goes_on_later(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "COPIED_AT_ONCE_BYTES", LARGE)
    data = store.fill(list(range(5)), [5], size_bytes=LARGE)
    assert not store.log.copy_before(P, 3)
    store.keep()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwritev", failing(errno.ENOSPC))
        store.log.copy_before(P, 3)
        store.refused()
    assert store.everything() == data
    while not store.log.copy_before(P, 3):
        store.keep()
    store.log.replace(P, 3, 3, [], [])
    store.keep()
    left = data[: 3 * LARGE] + data[4 * LARGE :]
    assert store.everything() == left
    store.name(ORDERS)
    store.kill()
    assert store.everything() == left
