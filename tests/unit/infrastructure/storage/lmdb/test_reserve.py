"""The reserve of a store on a small disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.folder import LmdbFolder
from infrastructure.storage.lmdb.reserve import RESERVE_BYTES, RESERVE_FILE
from tests.contract.batches import batch
from tests.fakes.small_disk import fill, needs_a_mount, small_disk
from tests.unit.infrastructure.storage.lmdb.reopening import committed, flush, opened

pytestmark = needs_a_mount


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path, 16) as path:
        yield path


def append_until_full(storage: Storage) -> int:
    for offset in range(1000):
        storage.log.append(1, offset, batch(offset, size_bytes=100_000))
        if not committed(storage):
            return offset
    raise AssertionError("the disk is not full")


def drop_all(storage: Storage) -> None:
    while not storage.log.drop(1, 10):
        assert committed(storage)
    assert committed(storage)
    if storage.start_flush is not None:
        flush(storage)


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_on_a_completely_full_disk_deletions_succeed_and_make_room(
    disk: Path, policy: Flush
) -> None:
    storage = opened(disk / "store", policy)
    reserve, file = storage.reserve, disk / "store" / RESERVE_FILE
    assert reserve is not None
    assert file.stat().st_blocks * 512 == RESERVE_BYTES
    assert reserve.admits(1 << 40)

    count = append_until_full(storage)
    fill(disk)

    assert reserve.is_released and not file.exists()
    assert not reserve.admits(1)
    assert len(storage.log.headers(1, 0, 1000)) == count
    drop_all(storage)
    assert reserve.admits(1_000_000)
    storage.log.append(2, 0, batch(0, size_bytes=1_000_000))
    assert committed(storage)
    storage.commit.close()
    assert LmdbFolder(disk / "store").check_pages() is None


def test_records_that_are_admitted_before_a_commit_share_the_room(disk: Path) -> None:
    storage = opened(disk / "store", "commit")
    append_until_full(storage)
    fill(disk)
    drop_all(storage)
    assert storage.reserve is not None

    admitted = [storage.reserve.admits(100_000) for _ in range(1000)].count(True)

    assert 0 < admitted < (16 << 20) / 100_000
    storage.state.put("table", b"key", b"value")
    assert committed(storage)
    assert storage.reserve.admits(100_000)


def test_the_reserve_is_made_again_when_the_disk_has_room(disk: Path) -> None:
    (disk / "other").write_bytes(bytes(9 << 20))
    storage = opened(disk / "store", "commit")
    append_until_full(storage)
    assert storage.reserve is not None and not storage.reserve.admits(1)

    (disk / "other").unlink()

    assert storage.reserve.admits(1 << 40)
    assert not storage.reserve.is_released
    assert (disk / "store" / RESERVE_FILE).stat().st_blocks * 512 == RESERVE_BYTES


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_a_store_opens_on_a_full_disk_with_the_room_of_its_reserve(
    disk: Path, policy: Flush
) -> None:
    opened(disk / "store", policy).commit.close()
    (disk / "store" / "lock.mdb").unlink()
    fill(disk)

    storage = opened(disk / "store", policy)

    assert storage.reserve is not None and storage.reserve.is_released
    storage.state.put("table", b"key", b"value")
    assert committed(storage)


def test_on_a_full_disk_a_new_store_is_refused_in_one_line(disk: Path) -> None:
    (disk / "store").mkdir()
    (disk / "store" / "ottla.lock").touch()
    fill(disk)

    with pytest.raises(StorageUnusable, match="cannot be used: No space left on device"):
        open_storage(f"lmdb://{disk}/store", "commit")

    assert [file.name for file in (disk / "store").iterdir()] == ["ottla.lock"]


@pytest.mark.parametrize("error", [AttributeError(), OSError(errno.EOPNOTSUPP, "Not supported")])
def test_where_a_system_allocates_nothing_the_reserve_is_written(
    disk: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, "posix_fallocate", refused)
    storage = opened(disk / "store", "commit")

    assert (disk / "store" / RESERVE_FILE).stat().st_blocks * 512 == RESERVE_BYTES
    append_until_full(storage)
    fill(disk)
    drop_all(storage)
    assert storage.reserve is not None and storage.reserve.admits(1_000_000)
