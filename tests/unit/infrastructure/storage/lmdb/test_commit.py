from __future__ import annotations

import threading
from pathlib import Path

from infrastructure.storage.engine import Storage
from tests.contract.batches import batch
from tests.unit.infrastructure.storage.lmdb.reopening import opened


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
