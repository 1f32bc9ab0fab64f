from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from domain.errors import StorageFailed
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from tests.contract.batches import batch


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


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


def test_a_deleted_snapshot_leaves_no_file(storage: Storage, temporary: Path) -> None:
    assert storage.take_snapshot is not None
    snapshot = storage.take_snapshot()
    assert [file.name for file in temporary.rglob("*.mdb")] == ["data.mdb"]
    snapshot.delete()
    assert list(temporary.iterdir()) == []
    storage.commit.close()


def test_a_snapshot_that_cannot_be_written_leaves_no_file(
    storage: Storage, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert storage.take_snapshot is not None
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", no_room)
        with pytest.raises(StorageFailed, match="No space left"):
            storage.take_snapshot()
    assert list(temporary.iterdir()) == []
    storage.commit.close()


def test_a_restore_that_fails_changes_nothing(storage: Storage, temporary: Path) -> None:
    assert storage.take_snapshot is not None
    snapshot = storage.take_snapshot()
    storage.log.append(1, 1, batch(1, b"new"))
    commit(storage)
    [file] = temporary.rglob("data.mdb")
    file.unlink()
    with pytest.raises(StorageFailed):
        snapshot.restore()
    assert len(storage.log.headers(1, 0, 10)) == 2
    storage.log.append(1, 2, batch(2, b"next"))
    commit(storage)
    snapshot.delete()
    storage.commit.close()
