"""Checks a whole store that may be damaged: its pages first, then its batches.

LMDB trusts its file: a page that never reached the disk makes it read elsewhere, abort or crash. So
Python walks the pages before LMDB opens the file. Pages have no checksum: a missing page is found
unless an older version of the same page is in its place.
"""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from domain.messages.batch import (
    CHECKSUM_START,
    CRC,
    CRC_START,
    EXTENT,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
)
from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.errors import StorageDamaged, StorageForeign
from infrastructure.storage.lmdb.identity import IN_FILES, IN_LMDB, Layout
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.recovery_point import UNSYNCED_FILE

if TYPE_CHECKING:
    import lmdb
    from lmdb import _Database


DATA_FILE = "data.mdb"
#: Files that are written only beside a data.mdb that is there.
_BESIDE_DATA = ("lock.mdb", UNSYNCED_FILE)
_OF_KAFKA = ("meta.properties", "__cluster_metadata-0")
_SEGMENT = f"*/{'[0-9]' * 20}.log"


def holds_a_store(folder: Path, layout: Layout = IN_LMDB) -> bool:
    """False: a store may be created there. Raises StorageUnusable where there was one."""
    data_file = folder / DATA_FILE
    if data_file.is_file():
        if not data_file.stat().st_size:
            raise _lost(folder, "is empty")
        return True
    if not layout.takes_kafkas:
        _check_it_is_not_kafkas(folder, layout)
    for name in _BESIDE_DATA:
        if (folder / name).exists():
            raise _lost(folder, f"is missing, and {name} shows that it was there")
    if layout is IN_FILES and (segment := next(folder.glob(_SEGMENT), None)) is not None:
        # Their rows say what they are: a new store would remove them.
        place = segment.relative_to(folder)
        raise _lost(folder, f"is missing, and {place} shows that it was there")
    return False


def _lost(folder: Path, problem: str) -> StorageDamaged:
    return StorageDamaged(
        f"the store in {folder} cannot be read: {DATA_FILE} {problem}; "
        "restore it from a copy, or delete the folder to start with an empty store"
    )


def _check_it_is_not_kafkas(folder: Path, layout: Layout) -> None:
    """Users with a `server.properties` may expect that Ottla reads its data."""
    signs = _OF_KAFKA if layout is not IN_LMDB else (*_OF_KAFKA, _SEGMENT)
    for kafkas in signs:
        if any(folder.glob(kafkas)):
            raise StorageForeign(
                f"{folder} is a data folder of Apache Kafka: give Ottla one of its own (--data), "
                f"into which `ottla import kafka {folder}` copies what is in this one"
            )


def check_pages(folder: Path) -> None:
    problem = page_problem(folder / DATA_FILE)
    if problem is not None:
        raise _damaged(folder, problem)


def page_problem(data_file: Path) -> str | None:
    """The first thing that is wrong with the pages, found by a walk over all of them."""
    from lmdb.verify import VerifyError, verify

    try:
        problems: list[str] = verify(os.fspath(data_file))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        return str(error)
    return problems[0] if problems else None


def check_batches(folder: Path, env: lmdb.Environment, batches: _Database) -> None:
    last_of: dict[int, int] = {}
    with env.begin(buffers=True) as txn:
        for key, parts in groupby(txn.cursor(batches), lambda row: bytes(row[0][: KEY.size])):
            partition_id, last_offset = KEY.unpack(key)
            entry = memoryview(b"".join(part for _, part in parts))
            wrong = _what_is_wrong(entry, last_offset, last_of.get(partition_id, -1))
            if wrong:
                raise _damaged(folder, f"partition {partition_id}, offset {last_offset}: {wrong}")
            last_of[partition_id] = last_offset


def _what_is_wrong(entry: memoryview, last_offset: int, last_before: int) -> str | None:
    """An entry is one batch, or several side by side; the key is the last offset of the last."""
    while entry:
        if len(entry) < HEADER_BYTES:
            return "no batch"
        base_offset, length, last_offset_delta = EXTENT.unpack_from(entry)
        (checksum,) = CRC.unpack_from(entry, CRC_START)
        end = length + LENGTH_OVERHEAD_BYTES
        if not CHECKSUM_START < end <= len(entry):
            return "another length than it says"
        if base_offset <= last_before or last_offset_delta < 0:
            return f"a batch of offset {base_offset}"
        if crc32c(entry[CHECKSUM_START:end]) != checksum:
            return "another checksum than it says"
        last_before = base_offset + last_offset_delta
        entry = entry[end:]
    return None if last_before == last_offset else f"it ends at {last_before}"


def _damaged(folder: Path, problem: str) -> StorageDamaged:
    return StorageDamaged(
        f"the machine went down while the store in {folder} was open with flush=os, and the store "
        f"is damaged ({problem}): restore a copy, or begin with an empty folder"
    )
