"""Stores are read beside a broker: without changes and without a lock."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import lmdb
import pytest

from application.state.runtime import ignore
from infrastructure.opening import open_storage, opened_beside
from infrastructure.storage.errors import (
    StorageDamaged,
    StorageForeign,
    StorageInUse,
    StorageOtherFormat,
    StorageUnusable,
)
from infrastructure.storage.lmdb import beside
from infrastructure.storage.lmdb.beside import StoreBeside
from infrastructure.storage.lmdb.folder_lock import LOCK_FILE, FolderLock, NobodyWrites
from infrastructure.storage.lmdb.identity import FORMAT, WITHOUT_PARTS
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.parts import PART_BYTES
from infrastructure.storage.lmdb.recovery_point import UNSYNCED_FILE, Slot
from tests.contract.batches import HEADER_BYTES, batch

ALL = 1 << 62
LONG = batch(9, b"7", first_offset=3)


def created(folder: Path) -> Path:
    storage = open_storage(f"lmdb://{folder}")
    for partition_id in (1, 2):
        for offset in range(3):
            storage.log.append(partition_id, offset, batch(offset, b"1"))
            storage.commit.commit(ignore)
    storage.log.append(2, 9, LONG)
    storage.commit.commit(ignore)
    storage.commit.close()
    return folder


def set_format(folder: Path, written: bytes) -> None:
    with lmdb.Environment(str(folder), max_dbs=8, lib_version=0) as env:
        rows = env.open_db(b"rows")
        with env.begin(write=True, db=rows) as txn:
            txn.put(b"store\0format", written)


def format_of(folder: Path) -> bytes:
    with lmdb.Environment(str(folder), max_dbs=8, readonly=True, lib_version=0) as env:
        rows = env.open_db(b"rows", create=False)
        with env.begin(db=rows) as txn:
            return txn.get(b"store\0format") or b""


def test_entries_are_found_by_their_keys(tmp_path: Path) -> None:
    with opened_beside(f"lmdb://{created(tmp_path)}") as store:
        assert [last for last, _ in store.entries(1, 0, ALL, ALL)] == [0, 1, 2]
        assert [last for last, _ in store.entries(2, 1, ALL, ALL)] == [1, 2, 9]
        assert [last for last, _ in store.entries(2, 1, 3, ALL)] == [1, 2]
        # The entry that holds the offset, of any size; none of another partition.
        assert store.entries(2, 5, ALL, 0) == [(9, LONG)]
        assert store.entries(1, 3, ALL, ALL) == []
        bounds = [store.bounds(number) for number in (0, 1, 2, 3)]
        assert bounds == [(0, 0), (0, 3), (0, 10), (0, 0)]


@pytest.mark.parametrize("size_bytes", [100, 20 * PART_BYTES, 40 * PART_BYTES])
def test_a_batch_with_a_wrong_length_does_not_hide_the_next_one(
    tmp_path: Path, size_bytes: int
) -> None:
    large, after = batch(0, size_bytes=30 * PART_BYTES), batch(1)
    storage = open_storage(f"lmdb://{tmp_path}")
    storage.log.append(1, 0, large)
    storage.log.append(1, 1, after)
    storage.commit.commit(ignore)
    storage.commit.close()
    damaged = batch(0, size_bytes=size_bytes)[:HEADER_BYTES] + large[HEADER_BYTES:PART_BYTES]
    env = lmdb.Environment(str(tmp_path), max_dbs=8, lib_version=0)
    with env, env.begin(write=True, db=env.open_db(b"batches")) as txn:
        txn.put(KEY.pack(1, 0), damaged)

    with opened_beside(f"lmdb://{tmp_path}") as store:
        assert [last for last, _ in store.entries(1, 0, ALL, ALL)] == [0, 1]
        assert store.entries(1, 1, ALL, ALL) == [(1, after)]


def test_a_read_leaves_no_transaction_open(tmp_path: Path) -> None:
    """It would prevent the broker from reusing freed pages."""
    store = StoreBeside(created(tmp_path))
    store.entries(1, 0, ALL, ALL)
    store.last_offset(2)
    store.log.at_timestamp(1, 5)
    store.state.scan("topics")
    _, *readers = store.env.readers().splitlines()
    assert [reader.split()[2] for reader in readers] == ["-"]  # the transaction
    store.close()


def test_a_store_in_use_can_be_read(tmp_path: Path) -> None:
    lock = FolderLock(created(tmp_path))
    try:
        with opened_beside(f"lmdb://{tmp_path}") as store:
            assert store.bounds(1) == (0, 3)
    finally:
        lock.release()


@pytest.mark.parametrize("written", [WITHOUT_PARTS - 1, FORMAT + 1])
def test_another_format_is_refused_unchanged(tmp_path: Path, written: int) -> None:
    set_format(created(tmp_path), b"%d" % written)
    with pytest.raises(StorageOtherFormat, match=rf"has format {written}; this version of Ottla"):
        StoreBeside(tmp_path)
    assert format_of(tmp_path) == b"%d" % written


def test_other_folders_are_refused_unchanged(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder in (empty, tmp_path / "none"):
        with pytest.raises(StorageUnusable, match=rf"^there is no store in {folder}$"):
            StoreBeside(folder)
    assert not (tmp_path / "none").exists()
    assert list(empty.iterdir()) == []
    (empty / "meta.properties").touch()
    with pytest.raises(StorageForeign, match=r"is a data folder of Apache Kafka"):
        StoreBeside(empty)


def test_other_files_are_refused(tmp_path: Path) -> None:
    lmdb.Environment(str(tmp_path), lib_version=0).close()
    with pytest.raises(StorageDamaged, match=r"holds an LMDB environment that is not Ottla's$"):
        StoreBeside(tmp_path)
    (tmp_path / "data.mdb").write_bytes(os.urandom(100_000))
    with pytest.raises(StorageDamaged, match=r"^the store in .* cannot be read: ") as refused:
        StoreBeside(tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("size_bytes", "match"),
    [(4 * 4096, r"data\.mdb is truncated: \d+ of \d+ bytes: "), (0, r"data\.mdb is empty;")],
)
def test_a_truncated_file_is_refused(tmp_path: Path, size_bytes: int, match: str) -> None:
    os.truncate(created(tmp_path) / "data.mdb", size_bytes)
    with pytest.raises(StorageDamaged, match=match):
        StoreBeside(tmp_path)


def test_an_error_of_the_system_is_one_line(tmp_path: Path) -> None:
    lock_file = created(tmp_path) / "lock.mdb"
    lock_file.unlink()
    lock_file.mkdir()
    with pytest.raises(StorageUnusable, match=r"^the store in .* cannot be read: .*Is a directory"):
        StoreBeside(tmp_path)


def newest_root(folder: Path) -> bytes:
    pages = (folder / "data.mdb").read_bytes()[: 2 * 4096]
    return max((pages[at : at + 152] for at in (0, 4096)), key=lambda root: root[144:152][::-1])


def test_after_a_power_cut_a_store_must_be_restored_first(tmp_path: Path) -> None:
    flushed = newest_root(created(tmp_path))
    storage = open_storage(f"lmdb://{tmp_path}")
    storage.log.append(1, 3, batch(3))
    storage.commit.commit(ignore)
    storage.commit.close()
    (tmp_path / UNSYNCED_FILE).write_bytes(Slot(1, b"another boot", flushed).pack())
    with pytest.raises(StorageDamaged, match=r"by a broker or `ottla storage info`$"):
        StoreBeside(tmp_path)

    open_storage(f"lmdb://{tmp_path}", read_only=True).commit.close()  # as `storage info` does
    with opened_beside(f"lmdb://{tmp_path}") as store:
        assert store.bounds(1) == (0, 3)


def test_after_a_power_cut_without_a_flush_all_pages_are_checked(tmp_path: Path) -> None:
    folder = created(tmp_path / "data")
    (folder / UNSYNCED_FILE).write_bytes(Slot(1, b"another boot", b"").pack())
    StoreBeside(folder).close()
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    data = bytearray((copy / "data.mdb").read_bytes())
    data[3 * 4096 : 4 * 4096] = bytes(4096)
    (copy / "data.mdb").write_bytes(data)
    with pytest.raises(StorageDamaged, match=r"the store is damaged"):
        StoreBeside(copy)


def without_readers_table(folder: str) -> lmdb.Environment:
    """As LMDB opens a folder on a file system that is mounted read-only."""
    return lmdb.Environment(folder, readonly=True, lock=False, max_dbs=8, lib_version=0)


def test_without_a_readers_table_only_a_store_that_is_not_in_use_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"lmdb://{created(tmp_path)}"
    monkeypatch.setattr(beside, "open_environment", without_readers_table)
    others = NobodyWrites(tmp_path)
    with opened_beside(url) as store:
        assert [last for last, _ in store.entries(1, 0, ALL, ALL)] == [0, 1, 2]
        others.release()
        with pytest.raises(StorageInUse):
            FolderLock(tmp_path)
    broker = FolderLock(tmp_path)
    with pytest.raises(StorageInUse, match="cannot be read beside it"):
        StoreBeside(tmp_path)
    broker.release()
    (tmp_path / LOCK_FILE).unlink()
    with opened_beside(url) as copied:
        assert len(copied.entries(2, 0, ALL, ALL)) == 4


def test_too_many_readers_are_refused(tmp_path: Path) -> None:
    folder = created(tmp_path)
    (folder / "lock.mdb").unlink()
    with (
        lmdb.Environment(str(folder), readonly=True, max_readers=1, lib_version=0) as env,
        env.begin(),
        # The same process may not open a folder twice.
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other,
        pytest.raises(StorageUnusable, match="has too many readers"),
    ):
        other.submit(StoreBeside, folder).result()
