from __future__ import annotations

import shutil
import threading
from pathlib import Path

from domain.errors import StorageFailed
from infrastructure.storage.engine import Storage
from tests.contract.batches import batch
from tests.unit.infrastructure.storage.lmdb.reopening import got, opened, put


def flush_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ottla-flush"]


def started_flush(storage: Storage) -> None:
    assert storage.start_flush is not None
    storage.start_flush()


def test_without_a_commit_no_flush_starts(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    storage.commit.commit(lambda failure: None)

    started_flush(storage)

    assert flush_threads() == []


def test_a_flush_does_not_block_the_caller(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    for offset in range(20):
        storage.log.append(1, offset, batch(offset))
        storage.commit.commit(lambda failure: None)
        started_flush(storage)
        assert len(flush_threads()) <= 1
    assert len(storage.log.headers(1, 0, 100)) == 20

    storage.commit.close()

    assert flush_threads() == []
    started_flush(storage)  # without effect
    assert flush_threads() == []


def test_without_its_file_a_store_is_read_and_not_written(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store", "commit")
    put(storage, b"value")
    assert storage.check_file is not None
    storage.check_file()
    put(storage, b"value")

    shutil.rmtree(tmp_path / "store")
    storage.check_file()

    storage.state.put("table", b"key", b"lost")
    failures: list[StorageFailed | None] = []
    storage.commit.commit(failures.append)
    assert "data.mdb was removed" in str(failures)
    assert got(storage) == b"value"
