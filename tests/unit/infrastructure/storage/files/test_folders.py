"""Folders of logs that get a name, lose it, and give it to another log."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from application.ports.log_store import LogName
from infrastructure.kafka_folder.checkpoints import partition_metadata
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.own_rows import OwnRows
from tests.contract.batches import batch

ORDERS = LogName("orders", 0, bytes(16))
EVERYTHING = 1 << 62


class Stored:
    def __init__(self, folder: Path, flush: Flush = "os") -> None:
        self.folder = folder
        self.storage: Storage = open_storage(f"files://{folder}", flush)

    def commit(self) -> None:
        failures: list[object] = []
        self.storage.commit.commit(failures.append)
        assert failures == [None]

    def read(self, partition_id: int) -> bytes:
        return self.storage.log.read(partition_id, 0, EVERYTHING, EVERYTHING, True)

    def append(self, partition_id: int, offset: int) -> bytes:
        data = batch(offset, b"value")
        self.storage.log.append(partition_id, offset, data)
        return data


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Stored]:
    opened = Stored(tmp_path)
    yield opened
    opened.storage.commit.close()


def test_an_empty_log_that_is_dropped_leaves_the_folder_of_its_successor(stored: Stored) -> None:
    log = stored.storage.log
    log.name(1, ORDERS)
    stored.commit()
    log.name(1, None)
    stored.commit()
    log.name(2, ORDERS)
    data = stored.append(2, 0)
    stored.commit()
    assert log.drop(1, 10)
    stored.commit()
    assert stored.read(2) == data
    assert (stored.folder / "orders-0").is_dir()


@pytest.mark.parametrize("has_batches", [False, True])
def test_a_folder_of_another_topic_is_put_aside(stored: Stored, has_batches: bool) -> None:
    """One that Kafka has left there, and that is not served."""
    kafkas = stored.folder / "orders-0"
    kafkas.mkdir()
    (kafkas / f"{7:020d}.log").write_bytes(b"of Kafka")
    other_id = partition_metadata(b"another topic id")
    (kafkas / "partition.metadata").write_bytes(other_id)
    if has_batches:
        data = stored.append(1, 0)
        stored.commit()
    stored.storage.log.name(1, ORDERS)
    stored.commit()
    stored.storage.commit.close()
    stored.storage = open_storage(f"files://{stored.folder}", "os")
    assert stored.storage.log.last_offset(1) == (0 if has_batches else -1)
    if not has_batches:
        data = stored.append(1, 0)
        stored.commit()
    assert stored.read(1) == data
    [aside] = stored.folder.glob("orders-0.*-stray")
    assert (aside / f"{7:020d}.log").read_bytes() == b"of Kafka"
    assert (aside / "partition.metadata").read_bytes() == other_id


def test_a_failed_deletion_leaves_no_file_of_its_pass(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stored.storage.log
    log.name(1, ORDERS)
    first = stored.append(1, 0)
    stored.commit()
    before = sorted((stored.folder / "orders-0").iterdir())
    log.append(1, 1, batch(1, b"lost"), begins_segment=True)
    log.name(1, None)
    with monkeypatch.context() as patch:
        patch.setattr(OwnRows, "put", _no_space)
        failures: list[object] = []
        stored.storage.commit.commit(failures.append)
    assert failures != [None]
    assert sorted((stored.folder / "orders-0").iterdir()) == before
    assert stored.read(1) == first


def test_a_batch_in_a_new_segment_is_read_after_its_log_lost_its_name(stored: Stored) -> None:
    log = stored.storage.log
    log.name(1, ORDERS)
    data = stored.append(1, 0)
    stored.commit()
    later = batch(1, b"later")
    log.append(1, 1, later, begins_segment=True)
    log.name(1, None)
    stored.commit()
    assert stored.read(1) == data + later


def test_files_removed_by_a_flush_are_those_of_the_log_that_lost_its_name(tmp_path: Path) -> None:
    stored = Stored(tmp_path, "interval")
    log = stored.storage.log
    log.name(1, ORDERS)
    for offset in range(2):
        log.append(1, offset, batch(offset, b"value"), begins_segment=True)
    stored.commit()
    log.trim(1, 1, 10)
    stored.commit()
    log.name(1, None)
    log.name(2, ORDERS)
    data = stored.append(2, 0)
    stored.commit()
    stored.storage.commit.close()
    stored = Stored(tmp_path)
    try:
        assert stored.read(2) == data
    finally:
        stored.storage.commit.close()


def test_a_start_removes_folders_of_no_log(tmp_path: Path) -> None:
    removed = f"partition.{9:032x}-stray", f"orders-0.{'0' * 32}-delete"
    kept = f"orders-1.{'0' * 32}-stray"
    for name in (*removed, kept):
        (tmp_path / name).mkdir()
    stored = Stored(tmp_path)
    stored.append(1, 0)
    stored.commit()
    stored.storage.commit.close()
    Stored(tmp_path).storage.commit.close()
    left = {one.name for one in tmp_path.iterdir() if one.is_dir()}
    assert left == {f"partition.{1:032x}-stray", kept}


@pytest.mark.parametrize("left", [b"", None])
def test_the_topic_id_is_written_when_a_start_finds_none(
    left: bytes | None, tmp_path: Path
) -> None:
    stored = Stored(tmp_path)
    stored.storage.log.name(1, ORDERS)
    stored.append(1, 0)
    stored.commit()
    stored.storage.commit.close()
    metadata = tmp_path / "orders-0/partition.metadata"
    whole = metadata.read_bytes()
    if left is None:
        metadata.unlink()
    else:
        metadata.write_bytes(left)
    stored = Stored(tmp_path)
    stored.read(1)
    stored.storage.commit.close()
    assert metadata.read_bytes() == whole


def test_a_flush_removes_no_file_of_a_restored_snapshot(tmp_path: Path) -> None:
    stored = Stored(tmp_path, "interval")
    log = stored.storage.log
    data = [batch(offset, b"value") for offset in range(2)]
    for offset, one in enumerate(data):
        log.append(1, offset, one, begins_segment=True)
    stored.commit()
    assert stored.storage.take_snapshot is not None
    snapshot = stored.storage.take_snapshot()
    log.trim(1, 1, 10)
    stored.commit()
    snapshot.restore()
    snapshot.delete()
    stored.storage.commit.close()
    stored = Stored(tmp_path)
    try:
        assert stored.read(1) == b"".join(data)
    finally:
        stored.storage.commit.close()


def _no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "no space")
