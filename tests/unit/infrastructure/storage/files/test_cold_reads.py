"""Data that is not in the page cache, and more segments than descriptors."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pytest

from application.ports.log_store import NotInMemory
from infrastructure.storage.files import cold_reads, open_files
from infrastructure.storage.files.cold_reads import ColdReads
from infrastructure.storage.files.open_files import OpenFiles
from tests.contract.batches import batch
from tests.fakes.files_store import FilesStore, P

LARGE = 150_000
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE
_LIBC = ctypes.CDLL(None)


def evict(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def is_cold(descriptor: int, position: int) -> bool:
    """Without beginning to load it."""
    if position >= os.fstat(descriptor).st_size:
        return False
    page = position // mmap.PAGESIZE * mmap.PAGESIZE
    with mmap.mmap(descriptor, position - page + 1, offset=page, prot=_READ_WRITE) as mapped:
        view = ctypes.c_char.from_buffer(mapped)
        found = ctypes.create_string_buffer(1)
        failed = _LIBC.mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(1), found)
        del view
    return not failed and not found.raw[0] & 1


@pytest.fixture(autouse=True)
def disk_takes_longer_than_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast one delivers what is asked for while it is asked, or asked again."""
    preadv, pread = os.preadv, os.pread
    #: Files of which something that was not in memory was asked for, and not read since.
    loading: set[int] = set()

    def ask(descriptor: int, buffers: list[bytearray], position: int, flags: int = 0) -> int:
        file = os.fstat(descriptor).st_ino
        if is_cold(descriptor, position):
            loading.add(file)
        size_bytes = preadv(descriptor, buffers, position, flags)
        if file in loading:
            raise BlockingIOError
        return size_bytes

    def read(descriptor: int, size_bytes: int, position: int) -> bytes:
        loading.discard(os.fstat(descriptor).st_ino)
        return pread(descriptor, size_bytes, position)

    monkeypatch.setattr(os, "preadv", ask)
    monkeypatch.setattr(os, "pread", read)


@pytest.fixture(autouse=True, scope="module")
def files_can_be_evicted(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("cold") / "file"
    path.write_bytes(bytes(LARGE))
    evict(path)
    with path.open("r+b") as file:
        if not is_cold(file.fileno(), 0):
            pytest.skip("files of this file system cannot be evicted from memory")


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    return FilesStore(tmp_path / "store", "os", cold=True)


def cannot(*arguments: object) -> int:
    raise OSError(95, "Operation not supported")


def test_a_read_of_cold_data_waits_in_a_thread(store: FilesStore) -> None:
    data = store.fill([0, 1], [2], size_bytes=LARGE)
    evict(store.path(0))
    with pytest.raises(NotInMemory):
        store.log.read(P, 0, 99, LARGE, True)
    assert store.patiently(lambda: store.log.read(P, 0, 99, LARGE, True)) == data[:LARGE]
    assert store.patiently(lambda: store.log.read(P, 1, 99, LARGE, True)) == data[LARGE:][:LARGE]


def test_a_read_that_loads_nothing_has_what_is_in_memory(store: FilesStore) -> None:
    data = store.fill([0, 1], [2], size_bytes=LARGE)
    evict(store.path(0))
    cold = store.log._folder.files.cold
    for _ in range(2):
        assert store.log.read_to(P, 0, 99, LARGE, True, loads=False) == (b"", 0)
        assert not cold._waiting
    assert store.log.read_to(P, 2, 99, LARGE, True, loads=False) == (data[2 * LARGE :], 3)
    assert store.patiently(lambda: store.log.read(P, 0, 99, LARGE, True)) == data[:LARGE]
    assert store.log.read_to(P, 0, 99, LARGE, True, loads=False) == (data[:LARGE], 1)


def test_headers_of_cold_data_wait_in_a_thread_or_here(store: FilesStore) -> None:
    store.fill([0, 1], [2], size_bytes=LARGE)
    for waits in (False, True):
        evict(store.path(0))
        if waits:
            assert len(store.log.headers(P, 0, 9, waits=True)) == 3
        else:
            with pytest.raises(NotInMemory):
                store.log.headers(P, 0, 9)


def test_a_read_ends_where_the_data_is_cold(store: FilesStore) -> None:
    data = store.fill([0], [1], size_bytes=LARGE)
    evict(store.path(1))
    assert store.log.read(P, 0, 99, 9 * LARGE, True) == data[:LARGE]


def test_changes_wait_for_cold_data(store: FilesStore) -> None:
    """Whatever a commit needs of a segment whose index is not open."""
    data = store.fill([0, 1], [2, 3], size_bytes=LARGE)
    store.reopen()
    for base in (0, 2):
        evict(store.path(base))
    data += store.append(4)
    store.keep()
    evict(store.path(0))
    store.log.replace(P, 0, 0, [], [])
    store.keep()
    evict(store.path(2))
    store.log.trim(P, 2, 9)
    store.keep()
    read = b""
    while len(read) < 2 * LARGE + 100:
        offset = 2 + len(read) // LARGE
        read += store.patiently(partial(store.log.read, P, offset, 99, 1 << 30, True))
    assert read == data[2 * LARGE :]


def test_a_store_without_a_loop_waits(tmp_path: Path) -> None:
    store = FilesStore(tmp_path / "plain", "os")
    data = store.fill([0], size_bytes=LARGE)
    evict(store.path(0))
    assert store.everything() == data


def test_what_could_be_asked_only_of_another_system_is_read_at_once(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0], size_bytes=LARGE)

    monkeypatch.setattr(os, "preadv", cannot)
    assert store.log.read(P, 0, 99, LARGE, True) == data
    monkeypatch.setattr(os, "preadv", None)
    assert store.log.read(P, 0, 99, LARGE, True) == data


def test_a_closed_store_loads_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(LARGE))
    files = OpenFiles(4, False, ColdReads(lambda callback: None))
    files.close()
    evict(path)
    assert files.cold is not None
    files.cold.check(files.descriptor(str(path)), str(path), 0, LARGE)


def test_what_the_disk_did_not_deliver_is_not_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read says why; the thread goes on."""
    path = tmp_path / "file"
    path.write_bytes(bytes(LARGE))
    callbacks: SimpleQueue[Callable[[], None]] = SimpleQueue()
    files = OpenFiles(16, False, ColdReads(callbacks.put))

    def fails(*arguments: object) -> int:
        raise MemoryError

    for open_, kind in ((fails, bytes), (fails, bytes), (os.open, memoryview)):
        files.descriptor(str(path))
        evict(path)
        with monkeypatch.context() as patched:
            patched.setattr(os, "open", open_)
            with pytest.raises(NotInMemory):
                files.view(str(path), 0, LARGE)
            callbacks.get(timeout=10)()
        assert isinstance(files.view(str(path), 0, LARGE), kind)
        files.forget(str(path))  # pages of a map stay
    files.close()


def test_a_file_that_became_shorter_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(LARGE))
    files = OpenFiles(16, False, ColdReads(lambda callback: None))
    assert isinstance(files.view(str(path), 0, LARGE), memoryview)
    os.truncate(path, 4096)
    assert len(files.view(str(path), 0, LARGE)) == 4096
    files.close()


def test_maps_count_as_open_files(tmp_path: Path) -> None:
    """Views of a file that grows wait for slow clients."""
    path = tmp_path / "file"
    path.touch()
    files = OpenFiles(16, False, ColdReads(lambda callback: None))
    before = len(os.listdir("/proc/self/fd"))
    views = []
    for number in range(40):
        with path.open("ab") as file:
            file.write(bytes([number]) * LARGE)
        views.append(files.view(str(path), number * LARGE, LARGE))
    assert len(os.listdir("/proc/self/fd")) <= before + 16
    assert all(bytes(view) == bytes([number]) * LARGE for number, view in enumerate(views))
    files.close()


def test_a_removed_file_is_forgotten(store: FilesStore) -> None:
    store.fill([0], [1], size_bytes=LARGE)
    evict(store.path(0))
    with pytest.raises(NotInMemory):
        store.log.read(P, 0, 99, LARGE, True)
    cold = store.files.files.cold
    assert cold is not None and list(cold._ahead) == [str(store.path(0))]
    store.log.trim(P, 1, 9)
    store.keep()
    assert not cold._ahead
    store.callbacks.get(timeout=10)()
    assert not cold._waiting


def test_a_file_is_loaded_ahead_of_its_reader(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold_reads, "AHEAD_BYTES", 4 * LARGE)
    data = store.fill(list(range(12)), size_bytes=LARGE)
    evict(store.path(0))
    waits, read = 0, b""
    while len(read) < len(data):
        offset = len(read) // LARGE
        try:
            read += store.log.read(P, offset, 99, LARGE, True)
        except NotInMemory as later:
            waits += 1
            while not later.loading.resolved:
                store.callbacks.get(timeout=10)()
        while not store.callbacks.empty():
            store.callbacks.get()()
    assert read == data
    assert waits < 12


def test_open_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "most_open_files", lambda: 16)
    store = FilesStore(tmp_path / "store", "os")
    before = len(os.listdir("/proc/self/fd"))
    data = store.fill(*([offset] for offset in range(40)))
    others = [store.append(0, partition_id=P + number) for number in range(1, 40)]
    store.keep()
    for _ in range(2):
        assert store.everything() == data
        for offset in range(40):
            assert store.log.read(P, offset, 99, 100, True) == data[100 * offset :][:100]
        for number, one in enumerate(others, start=1):
            assert store.everything(P + number) == one
        assert len(os.listdir("/proc/self/fd")) <= before + 16
        store.reopen()


def test_all_descriptors_are_closed(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    store = FilesStore(tmp_path / "store", "os", cold=True)
    store.fill([0], [1])
    store.name()
    store.keep()
    store.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_batch_is_written_over_what_an_evicted_descriptor_left(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    files = OpenFiles(1, False)
    files.make(path, b"old")
    files.make(str(tmp_path / "other"))
    one = batch(0, size_bytes=100)
    files.write(path, [one[:50], one[50:]], 0, 100)
    assert files.read(path, 0, 200) == one
    files.close()
