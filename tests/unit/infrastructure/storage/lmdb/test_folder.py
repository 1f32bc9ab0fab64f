from __future__ import annotations

import os
from pathlib import Path

import pytest

from application.state.runtime import ignore
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageInUse
from infrastructure.storage.lmdb.folder import COMPACT_FILE, LmdbFolder


def filled(folder: Path) -> Storage:
    storage = open_storage(f"lmdb://{folder}")
    for number in range(200):
        storage.state.put("rows", b"%d" % number, bytes(4000))
    storage.commit.commit(ignore)
    for number in range(199):
        storage.state.put("rows", b"%d" % number, None)
    storage.commit.commit(ignore)
    return storage


def test_a_compacted_store_has_the_same_data_and_is_smaller(tmp_path: Path) -> None:
    storage = filled(tmp_path)
    store_id = storage.info.store_id
    storage.commit.close()
    # Of a killed process.
    (tmp_path / COMPACT_FILE).write_bytes(b"half a copy")

    shares: list[float] = []
    before, after = LmdbFolder(tmp_path).compact(shares.append)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert after * 4 < before
    assert (tmp_path / "data.mdb").stat().st_size == after
    assert not (tmp_path / COMPACT_FILE).exists()
    assert LmdbFolder(tmp_path).check_pages() is None
    again = open_storage(f"lmdb://{tmp_path}")
    assert (again.info.store_id, again.state.tables()) == (store_id, ["rows"])
    assert again.state.get("rows", b"199") == bytes(4000)
    again.commit.close()


def test_a_compacted_store_keeps_owner_and_mode(tmp_path: Path) -> None:
    filled(tmp_path).commit.close()
    data_file = tmp_path / "data.mdb"
    data_file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(data_file, 4711, 4712)
    before = data_file.stat()

    LmdbFolder(tmp_path).compact(ignore)

    after = data_file.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_store_in_use_is_refused(tmp_path: Path) -> None:
    storage = filled(tmp_path)
    folder = LmdbFolder(tmp_path)
    for look in (lambda: folder.compact(ignore), folder.check_pages, folder.last_end):
        with pytest.raises(StorageInUse):
            look()
    storage.commit.close()
    assert "closed cleanly" in LmdbFolder(tmp_path).last_end()


def test_a_failed_compaction_leaves_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path).commit.close()
    before = (tmp_path / "data.mdb").read_bytes()

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("infrastructure.storage.lmdb.folder.os.fsync", no_room)
        with pytest.raises(Exception, match="No space left"):
            LmdbFolder(tmp_path).compact(ignore)
    assert (tmp_path / "data.mdb").read_bytes() == before
    assert not (tmp_path / COMPACT_FILE).exists()
