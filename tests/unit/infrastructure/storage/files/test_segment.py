"""Segments and their indexes: Kafka's bytes, and damaged indexes that are rebuilt."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from domain.messages.batch import RecordBatch, batches_in
from infrastructure.kafka_folder.index_entries import IndexEntries
from infrastructure.storage.files import segment
from infrastructure.storage.files.index_file import BY_OFFSET, BY_POSITION, IndexFile
from infrastructure.storage.files.open_files import OpenFiles
from tests.contract.batches import batch
from tests.fakes.files_store import FilesStore, P
from tests.fakes.kafka_folder import unpacked
from tests.unit.infrastructure.kafka_folder.test_log_writer import INTERVAL_BYTES, WRITTEN

KINDS = "log", "index", "timeindex"
INT_MAX = (1 << 31) - 1


# ---- Kafka's bytes


def written_by(store: FilesStore, segments: dict[int, bytes]) -> dict[str, bytes]:
    """Appends the batches, one a commit, and closes the store."""
    for base_offset in sorted(segments):
        for number, one in enumerate(batches_in(segments[base_offset])):
            store.log.append(P, one.last_offset, one.buffer, -1, number == 0)
            store.keep()
    store.close()
    paths = store.path(0).parent.iterdir()
    return {path.name: path.read_bytes() for path in paths}


def of_segments(files: dict[str, bytes]) -> dict[str, bytes]:
    """Of those with batches: a segment of ours begins with its first one."""
    with_batches = {name[:20] for name, content in files.items() if content and ".log" in name}
    return {
        name: content
        for name, content in files.items()
        if name[:20] in with_batches and name.rpartition(".")[2] in KINDS
    }


def logs_of(files: dict[str, bytes]) -> dict[int, bytes]:
    return {int(name[:20]): content for name, content in files.items() if name.endswith(".log")}


def test_segments_and_indexes_are_those_of_kafka(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = partial(IndexEntries, interval_bytes=INTERVAL_BYTES)
    monkeypatch.setattr(segment, "IndexEntries", entries)
    golden = of_segments(WRITTEN)
    assert len(golden) == 6
    assert written_by(store, logs_of(golden)) == golden


def test_logs_of_a_whole_folder_are_those_of_kafka(tmp_path: Path) -> None:
    """It has no indexes."""
    compared = 0
    for folder in filter(Path.is_dir, unpacked(tmp_path).glob("*-*")):
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        golden = of_segments(files)
        first = {name[:20] for name in golden}
        # Compaction leaves the name of a segment whose first batches are gone.
        if not golden or any(begins_later(golden[f"{name}.log"], int(name)) for name in first):
            continue
        store = FilesStore(tmp_path / f"store-{folder.name}", "os")
        assert logs_of(written_by(store, logs_of(golden))) == logs_of(golden), folder.name
        compared += len(golden)
    assert compared > 5


def begins_later(log: bytes, base_offset: int) -> bool:
    return next(batches_in(log)).base_offset != base_offset


# ---- damaged indexes


@pytest.fixture
def filled(store: FilesStore) -> tuple[FilesStore, bytes]:
    """Two segments of 41 batches, with an index entry for almost each."""
    data = store.fill(list(range(41)), list(range(41, 82)), size_bytes=4200)
    store.close()
    return store, data


def reads_all(store: FilesStore, data: bytes) -> None:
    for offset in range(82):
        assert store.log.read(P, offset, 99, 5000, True) == data[4200 * offset :][:4200]
        assert store.log.read(P, offset, 99, 1 << 30, True) == data[4200 * offset :]


def damages(content: bytes) -> Iterator[bytes]:
    for size_bytes in range(0, len(content), 3):
        yield content[:size_bytes]
        yield content[:size_bytes].ljust(len(content), b"\0")
    for at in range(len(content)):
        yield content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]
    yield content + bytes(800)
    yield content + b"\xff" * 13


def test_reads_are_right_with_any_damage_of_an_index(
    filled: tuple[FilesStore, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, data = filled
    store = FilesStore(store.folder, "os")
    log = store.files
    path = store.path(0, "index")
    right = path.read_bytes()
    for damaged in damages(right):
        path.write_bytes(damaged)
        log.forget(P)
        for offset in (0, 1, 20, 39, 40):
            assert store.log.read(P, offset, 99, 5000, True) == data[4200 * offset :][:4200]
    path.unlink()
    log.forget(P)
    reads_all(store, data)
    assert path.read_bytes() == right


@pytest.mark.parametrize("cut_at", [0, 7, 8, 200])
def test_a_shortened_index_is_completed(filled: tuple[FilesStore, bytes], cut_at: int) -> None:
    store, data = filled
    for base_offset in (0, 41):
        path = store.path(base_offset, "index")
        right = path.read_bytes()
        path.write_bytes(right[:cut_at])
        store.reopen()
        reads_all(store, data)
        store.close()
        assert path.read_bytes() == right


def test_an_index_that_is_shortened_in_use_is_rebuilt(store: FilesStore) -> None:
    data = store.fill(list(range(41)), [41], size_bytes=4200)
    path = store.path(0, "index")
    right = path.read_bytes()
    assert store.log.read(P, 30, 99, 5000, True) == data[4200 * 30 :][:4200]
    path.write_bytes(b"")
    store.files.find(P).segments[0]._index._block = b""  # type: ignore[union-attr]
    assert store.log.read(P, 3, 99, 5000, True) == data[4200 * 3 :][:4200]
    assert path.read_bytes() == right


def test_appends_go_on_after_a_wrong_time_index(filled: tuple[FilesStore, bytes]) -> None:
    store, _ = filled
    path = store.path(41, "timeindex")
    right = path.read_bytes()
    path.write_bytes(b"\x01" * 12 + right[12:] + b"\x7f" * 12)
    store.reopen()
    store.append(82)
    store.keep()
    store.close()
    assert path.read_bytes() == right


def test_reads_go_on_where_no_index_can_be_written(
    filled: tuple[FilesStore, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, data = filled
    store.path(0, "index").unlink()
    store.path(41, "index").write_bytes(b"")
    store.reopen()
    monkeypatch.setattr(OpenFiles, "write", _disk_is_full)
    reads_all(store, data)


def _disk_is_full(*arguments: object) -> None:
    raise OSError(28, "No space left on device")


def test_one_damaged_header_leaves_the_batches_around_it(
    filled: tuple[FilesStore, bytes],
) -> None:
    store, data = filled
    with store.path(0).open("r+b") as file:
        file.seek(4200 * 20 + 8)
        file.write(b"\xff" * 4)
    store.reopen()
    for offset in (0, 18, 22, 40, 60):
        assert store.log.read(P, offset, 99, 5000, True) == data[4200 * offset :][:4200]


# ---- large numbers


def test_a_segment_ends_where_offsets_do_not_fit_in_an_index(store: FilesStore) -> None:
    data = store.append(0)
    data += store.append(INT_MAX)
    data += store.append(INT_MAX + 1)
    store.keep()
    store.reopen()
    assert [path.name for path in sorted(store.path(0).parent.glob("*.log"))] == [
        f"{offset:020d}.log" for offset in (0, INT_MAX + 1)
    ]
    assert store.log.read(P, INT_MAX, 1 << 40, 1 << 20, True) == data[100:]
    assert store.log.read(P, INT_MAX + 1, 1 << 40, 1 << 20, True) == data[200:]


def test_a_segment_ends_where_positions_do_not_fit_in_an_index(store: FilesStore) -> None:
    """A file with a hole: its one batch is said to be as large as fits."""
    store.fill([0])
    path = store.path(0)
    huge = INT_MAX - 250
    with path.open("r+b") as file:
        file.write(batch(0, size_bytes=100)[:8] + struct.pack(">i", huge - 12))
        file.truncate(huge)
    log = store.files.find(P)
    assert log is not None
    log.segments[0].size_bytes = huge
    data = store.append(1) + store.append(2)
    store.keep()
    assert store.path(0).stat().st_size == huge + 200
    data += store.append(3)
    store.keep()
    assert store.path(3).stat().st_size == 100
    assert store.log.read(P, 1, 99, 1 << 20, True) == data
    store.reopen()
    assert store.log.read(P, 2, 99, 1 << 20, True) == data[100:]


def test_a_search_of_an_index_finds_the_last_entry_at_or_below(tmp_path: Path) -> None:
    path = tmp_path / "index"
    numbers = range(1, 3000)
    path.write_bytes(b"".join(struct.pack(">ii", 10 * n, 100 * n) for n in numbers))
    index = IndexFile(OpenFiles(4, False), str(path))
    assert index.floor(9, BY_OFFSET) is None
    for n in (1, 2, 511, 512, 513, 1024, 2998, 2999, 5):
        assert index.floor(10 * n, BY_OFFSET) == (10 * n, 100 * n)
        assert index.floor(100 * n + 99, BY_POSITION) == (10 * n, 100 * n)
    index.append(struct.pack(">ii", 30_000, 300_000))
    assert index.floor(40_000, BY_OFFSET) == (30_000, 300_000)


def test_batches_of_a_read_are_whole(filled: tuple[FilesStore, bytes]) -> None:
    store, _ = filled
    store.reopen()
    read = store.log.read(P, 38, 99, 4 * 4200 + 4199, True)
    assert [RecordBatch(memoryview(one.buffer)).base_offset for one in batches_in(read)] == [
        *(38, 39, 40, 41)
    ]
