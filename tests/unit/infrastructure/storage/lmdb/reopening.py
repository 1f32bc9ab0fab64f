"""A store of LMDB with one table, and what a killed process or a power cut leaves of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from tests.fakes.machine import restart_machine


def opened(folder: Path, flush: Flush = "interval") -> Storage:
    return open_storage(f"lmdb://{folder}", flush)


def put(storage: Storage, value: bytes, key: bytes = b"key") -> None:
    storage.state.put("table", key, value)
    assert committed(storage)


def got(storage: Storage, key: bytes = b"key") -> bytes | None:
    return storage.state.get("table", key)


def flush(storage: Storage) -> None:
    """As once a second, and waits for its end."""
    assert storage.start_flush is not None
    storage.start_flush()
    flushing = storage.commit._flushing  # type: ignore[attr-defined]
    assert flushing is not None
    flushing.join()


def as_it_is(folder: Path, copy: Path) -> Path:
    """What a killed process leaves: the page cache has all it wrote."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("lock.mdb"))
    return copy


def after_a_restart(folder: Path, copy: Path) -> Path:
    """The same on a machine that has been restarted since: the boot id is another one."""
    restart_machine(as_it_is(folder, copy))
    return copy


def committed(storage: Storage) -> bool:
    failures: list[object] = []
    storage.commit.commit(failures.append)
    return failures == [None]


def newest(folder: Path) -> tuple[int, bytes]:
    found = RecoveryPoint(folder).found
    assert found is not None
    return found.number, found.root
