"""Stores of files, and their folders after a killed process or a power cut."""

from __future__ import annotations

import shutil
from pathlib import Path

from application.ports.log_store import LogName
from infrastructure.codecs.checksum import crc32c
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.files.rows import LogRow, key_of, unpack
from infrastructure.storage.flush import Flush
from tests.contract.batches import batch
from tests.fakes.machine import restart_machine

#: Stores of this test, which conftest.py closes.
OPENED: list[Storage] = []

ID = 7
NAME = LogName("orders", 0, bytes(range(16)))
FIRST = "00000000000000000000.log"


def opened(folder: Path, flush: Flush, read_only: bool = False) -> Storage:
    OPENED.append(open_storage(f"files://{folder}", flush, read_only=read_only))
    return OPENED[-1]


def named(folder: Path, flush: Flush, name: LogName = NAME) -> Storage:
    """A store with a log without batches."""
    storage = opened(folder, flush)
    storage.log.name(ID, name)
    keep(storage)
    return storage


def keep(storage: Storage) -> None:
    failures: list[object] = []
    storage.commit.commit(failures.append)
    assert failures == [None]


def append(storage: Storage, *offsets: int, partition_id: int = ID, segment: bool = False) -> None:
    """A batch of 100 bytes for each; `segment`: the first one begins a segment."""
    for number, offset in enumerate(offsets):
        begins = segment and not number
        storage.log.append(partition_id, offset, a_batch(offset), 1000 + offset, begins)
    keep(storage)


def a_batch(offset: int) -> bytes:
    """With a timestamp, and a valid checksum."""
    content = batch(offset, b"%d" % offset, size_bytes=100)
    content = content[:35] + (1000 + offset).to_bytes(8, "big") + content[43:]
    return content[:17] + crc32c(content[21:]).to_bytes(4, "big") + content[21:]


def everything(storage: Storage, partition_id: int = ID) -> list[int]:
    """The contents of the log's batches, by which they are told apart."""
    data, found = storage.log.read(partition_id, 0, 1 << 62, 1 << 30, True), []
    for at in range(0, len(data), 100):
        found.append(int(data[at + 61 : at + 100].rstrip(b".")))
    return found


def flush(storage: Storage) -> None:
    """Flushes, and waits for the end of the fsync."""
    assert storage.start_flush is not None
    storage.start_flush()
    flushing = storage.commit._flushing  # type: ignore[attr-defined]
    assert flushing is not None
    flushing.join()


def row(storage: Storage, partition_id: int = ID) -> LogRow:
    return unpack(storage.log._folder.rows.get(key_of(partition_id)))  # type: ignore[attr-defined]


def after_a_kill(folder: Path, copy: Path) -> Path:
    """The files after a killed process: the page cache has all writes."""
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("lock.mdb"))
    return copy


def after_a_reboot(folder: Path, copy: Path) -> Path:
    """The same after a reboot: the boot id is another one."""
    restart_machine(after_a_kill(folder, copy))
    return copy
