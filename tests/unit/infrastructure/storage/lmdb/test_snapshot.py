from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from tests.contract.batches import batch


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    opened = open_storage(f"lmdb://{tmp_path}/store", "commit")
    opened.log.append(1, 0, batch(0, b"old"))
    commit(opened)
    return opened


def commit(storage: Storage) -> None:
    outcomes: list[StorageFailed | None] = []
    storage.commit.commit(outcomes.append)
    assert outcomes == [None]


def snapshots(folder: Path) -> list[Path]:
    return list(folder.glob(f"store/ottla.snapshot-{os.getpid()}-*.mdb"))


def test_a_deleted_snapshot_leaves_no_file(storage: Storage, tmp_path: Path) -> None:
    assert storage.take_snapshot is not None
    snapshot = storage.take_snapshot()
    assert len(snapshots(tmp_path)) == 1
    snapshot.delete()
    assert snapshots(tmp_path) == []
    storage.commit.close()


def test_snapshots_of_a_killed_broker_are_removed_at_the_next_start(
    storage: Storage, tmp_path: Path
) -> None:
    assert storage.take_snapshot is not None
    storage.take_snapshot()
    storage.commit.close()
    assert len(snapshots(tmp_path)) == 1
    of_a_user = tmp_path / "store" / "snapshot-2026.mdb"
    of_a_user.touch()
    open_storage(f"lmdb://{tmp_path}/store", "commit").commit.close()
    assert snapshots(tmp_path) == []
    assert of_a_user.exists()


def test_a_snapshot_that_cannot_be_written_leaves_no_file(storage: Storage, tmp_path: Path) -> None:
    assert storage.take_snapshot is not None
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(StorageFailed, match="File too large"):
            storage.take_snapshot()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert snapshots(tmp_path) == []
    storage.commit.close()


def test_a_restore_that_fails_changes_nothing(storage: Storage, tmp_path: Path) -> None:
    assert storage.take_snapshot is not None
    snapshot = storage.take_snapshot()
    storage.log.append(1, 1, batch(1, b"new"))
    commit(storage)
    [file] = snapshots(tmp_path)
    file.unlink()
    with pytest.raises(StorageFailed):
        snapshot.restore()
    assert len(storage.log.headers(1, 0, 10)) == 2
    storage.log.append(1, 2, batch(2, b"next"))
    commit(storage)
    snapshot.delete()
    storage.commit.close()
