from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from application.ports.log_store import NotInMemory
from infrastructure.opening import open_storage
from infrastructure.storage.lmdb import page_loader
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from tests.contract.batches import batch

BATCHES = 300
BATCH_BYTES = 40_000


class Reader:
    """A reopened store, of which no page is known to be in memory."""

    def __init__(self, folder: Path) -> None:
        self._callbacks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.storage = open_storage(f"lmdb://{folder}", "os", to_loop=self._callbacks.put)
        assert isinstance(self.storage.log, LmdbLogStore)
        self.log = self.storage.log
        self.waits = 0

    def read(self, offset: int, end: int = BATCHES, max_bytes: int = 1 << 20) -> bytes:
        for _ in range(10):
            try:
                return self.log.read(7, offset, end, max_bytes, True)
            except NotInMemory as later:
                self.waits += 1
                while not later.loading.resolved:
                    self.one_is_loaded()
        raise AssertionError("loaded pages are never in memory")

    def one_is_loaded(self) -> None:
        self._callbacks.get(timeout=10)()

    def commit(self) -> None:
        self.storage.commit.commit(lambda failure: None)

    def append(self, offset: int) -> None:
        self.log.append(7, offset, batch(offset, size_bytes=BATCH_BYTES))


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    filled = Reader(tmp_path)
    for offset in range(BATCHES):
        filled.append(offset)
    filled.commit()
    assert filled.read(0) and not filled.waits
    filled.storage.commit.close()
    opened = Reader(tmp_path)
    yield opened
    opened.storage.commit.close()


def test_sequential_reads_seldom_wait(reader: Reader) -> None:
    offset = 0
    while offset < BATCHES:
        offset += len(reader.read(offset)) // BATCH_BYTES
    assert 0 < reader.waits < 6
    reader.waits = 0
    assert reader.read(BATCHES - 1) and not reader.waits


def test_beside_producers_loaded_pages_are_read_in_small_pieces(reader: Reader) -> None:
    assert len(reader.read(0)) == (1 << 20) // BATCH_BYTES * BATCH_BYTES
    reader.append(BATCHES)
    reader.commit()
    small = page_loader.MOST_BESIDE_PRODUCERS_BYTES // BATCH_BYTES * BATCH_BYTES
    for _ in range(page_loader._READS_WITHOUT_WRITE):
        assert len(reader.read(0)) == small
    assert len(reader.read(0)) > small


def test_readers_at_several_offsets_are_independent(reader: Reader) -> None:
    for step in range(20):
        for start in (0, 100, 200):
            assert len(reader.read(start + step, max_bytes=1)) == BATCH_BYTES
    assert reader.waits <= 3 * 4


def test_a_batch_larger_than_the_limit_is_loaded_whole(reader: Reader) -> None:
    large = batch(BATCHES, size_bytes=5 << 20)
    reader.log.append(7, BATCHES, large)
    reader.commit()
    reader.log._memory_from.clear()
    assert reader.read(BATCHES, BATCHES + 1, max_bytes=1) == large


def test_recent_writes_are_in_memory_and_older_ones_are_not(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_loader, "RECENT_BYTES", 10 * BATCH_BYTES)
    for offset in range(BATCHES, BATCHES + 35):
        reader.append(offset)
        reader.commit()
    end = BATCHES + 35
    assert reader.read(end - 10, end) and not reader.waits
    assert reader.read(end - 34, end) and reader.waits == 1


def test_loaded_pages_are_dropped_after_other_loads(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert reader.read(0, max_bytes=1)
        assert reader.waits <= 1
    monkeypatch.setattr(page_loader, "RECENT_BYTES", BATCH_BYTES)
    for offset in (100, 150, 200):
        assert reader.read(offset, max_bytes=1)
    assert reader.read(0, max_bytes=1) and reader.waits == 5


def test_a_read_that_loads_nothing_has_what_is_in_memory(reader: Reader) -> None:
    def look(offset: int, max_bytes: int = 1 << 20, end: int = BATCHES) -> tuple[bytes, int]:
        return reader.log.read_to(7, offset, end, max_bytes, True, loads=False)

    for _ in range(2):
        assert look(100) == (b"", 100)
    loaded = reader.read(100, max_bytes=3 * BATCH_BYTES)
    assert look(100, 3 * BATCH_BYTES) == (loaded, 103)
    assert look(100) == (loaded, 103)  # no more than a read from there has loaded
    assert look(0) == (b"", 0)
    assert reader.waits == 1 and reader._callbacks.empty()
    reader.append(BATCHES)
    reader.commit()
    written = batch(BATCHES, size_bytes=BATCH_BYTES)
    assert look(BATCHES, end=BATCHES + 1) == (written, BATCHES + 1)


def test_closing_ends_pending_loads(reader: Reader) -> None:
    with pytest.raises(NotInMemory) as later:
        reader.log.read(7, 0, BATCHES, 1 << 20, True)
    reader.storage.commit.close()
    assert not later.value.loading.resolved


def test_more_readers_than_ranges_all_make_progress(reader: Reader) -> None:
    """Each reads at its own offset: a load is not dropped for another one."""
    places = list(range(0, BATCHES - 40, 10))
    assert len(places) > page_loader._RANGES_PER_PARTITION
    waiting = dict.fromkeys(places)
    for _ in range(4 * len(places)):
        for place in list(waiting):
            try:
                assert reader.log.read(7, place, BATCHES, BATCH_BYTES, True)
                del waiting[place]
            except NotInMemory:
                pass
        if not waiting:
            return
        reader.one_is_loaded()
    raise AssertionError(f"{len(waiting)} readers are never served")


def test_a_fault_in_a_callback_does_not_affect_other_readers(reader: Reader) -> None:
    def broken(_: None) -> None:
        raise ZeroDivisionError

    with pytest.raises(NotInMemory) as one:
        reader.log.read(7, 0, BATCHES, BATCH_BYTES, True)
    with pytest.raises(NotInMemory) as other:
        reader.log.read(7, 0, BATCHES, BATCH_BYTES, True)
    one.value.loading.then(broken)
    with pytest.raises(ZeroDivisionError):
        reader.one_is_loaded()
    assert other.value.loading.resolved
