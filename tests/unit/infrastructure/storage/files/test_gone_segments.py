"""Segments that compaction has emptied stay away when a crash has left their files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.timestamp_index import TimestampIndex
from tests.contract.batches import batch

EVERYTHING = 1 << 62


def committed(storage: Storage) -> None:
    failures: list[object] = []
    storage.commit.commit(failures.append)
    assert failures == [None]


def killed_after_emptying(folder: Path, flush: Flush, segments: int) -> Path:
    """A log of so many segments without those in the middle, as a killed process leaves it."""
    storage = open_storage(f"files://{folder}/store", flush)
    for offset in range(segments):
        storage.log.append(7, offset, batch(offset, b"value"), begins_segment=True)
    committed(storage)
    assert storage.log.copy_before(7, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infrastructure.storage.files.removals.remove", lambda path: None)
        patch.setattr(TimestampIndex, "replace", lambda *_: None)
        storage.log.replace(7, 1, segments - 2, [], [])
        committed(storage)
    shutil.copytree(folder / "store", folder / "killed")
    storage.commit.close()
    return folder / "killed"


def files_in(folder: Path) -> int:
    return len(list(folder.glob("partition.*/*.log")))


@pytest.mark.parametrize("flush", ["commit", "interval", "os"])
@pytest.mark.parametrize("segments", [3, 300])
def test_emptied_segments_do_not_come_back(flush: Flush, segments: int, tmp_path: Path) -> None:
    killed = killed_after_emptying(tmp_path, flush, segments)
    assert files_in(killed) == segments
    storage = open_storage(f"files://{killed}", flush)
    try:
        left = batch(0, b"value") + batch(segments - 1, b"value")
        assert storage.log.read(7, 0, EVERYTHING, EVERYTHING, True) == left
        assert files_in(killed) == 2
        storage.log.append(7, segments, batch(segments, b"later"))
        committed(storage)
    finally:
        storage.commit.close()
