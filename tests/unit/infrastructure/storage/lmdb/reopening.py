"""LMDB stores with one table, and their files after a killed process or a power cut."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from tests.fakes.machine import restart_machine

#: Stores of this test, which tests/unit/infrastructure/storage/lmdb/conftest.py closes.
OPENED: list[Storage] = []


def opened(folder: Path, flush: Flush = "interval", **options: Any) -> Storage:
    """Closed at the end of the test; the options are those of `open_storage`."""
    OPENED.append(open_storage(f"lmdb://{folder}", flush, **options))
    return OPENED[-1]


def flushed(folder: Path, *later: bytes) -> Storage:
    """A store with one flushed value, and later ones that are not flushed."""
    storage = opened(folder)
    put(storage, b"flushed")
    flush(storage)
    for value in later:
        put(storage, value)
    return storage


def put(storage: Storage, value: bytes, key: bytes = b"key") -> None:
    storage.state.put("table", key, value)
    assert committed(storage)


def got(storage: Storage, key: bytes = b"key") -> bytes | None:
    return storage.state.get("table", key)


def flush(storage: Storage) -> None:
    """Flushes, and waits for the end of the fsync."""
    assert storage.start_flush is not None
    storage.start_flush()
    flushing = storage.commit._flushing  # type: ignore[attr-defined]
    assert flushing is not None
    flushing.join()


def after_a_kill(folder: Path, copy: Path) -> Path:
    """The files after a killed process: the page cache has all writes."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("lock.mdb"))
    return copy


def after_a_reboot(folder: Path, copy: Path) -> Path:
    """The same after a reboot: the boot id is another one."""
    restart_machine(after_a_kill(folder, copy))
    return copy


def committed(storage: Storage) -> bool:
    failures: list[object] = []
    storage.commit.commit(failures.append)
    return failures == [None]


def newest(folder: Path) -> tuple[int, bytes]:
    found = RecoveryPoint(folder).found
    assert found is not None
    return found.number, found.root
