from __future__ import annotations

import threading
from pathlib import Path

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from tests.contract.batches import batch


def flush_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ottla-flush"]


def started_flush(storage: Storage) -> None:
    assert storage.start_flush is not None
    storage.start_flush()


def test_nothing_committed_starts_no_flush(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}", "interval")
    storage.commit.commit(lambda failure: None)

    started_flush(storage)

    assert flush_threads() == []
    storage.commit.close()


def test_a_flush_waits_beside_the_caller_who_goes_on(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}", "interval")
    for offset in range(20):
        storage.log.append(1, offset, batch(offset))
        storage.commit.commit(lambda failure: None)
        started_flush(storage)
        assert len(flush_threads()) <= 1
    assert len(storage.log.headers(1, 0, 100)) == 20

    storage.commit.close()

    assert flush_threads() == []
    started_flush(storage)  # too late, and harmless
    assert flush_threads() == []
