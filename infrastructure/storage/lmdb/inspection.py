"""A look at a whole store that may be damaged: its pages first, then its batches.

LMDB trusts its file: a page that never reached the disk makes it read elsewhere, abort or crash.
So the pages are walked in Python before it opens the file. Pages carry no checksum: one that is
missing is found unless what lies in its place is an older version of just that page.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING

from infrastructure.codecs.checksum import crc32c
from infrastructure.storage.errors import StorageDamaged

if TYPE_CHECKING:
    import lmdb
    from lmdb import _Database

#: base offset, length, (leader epoch, magic), checksum, (attributes), last offset delta
_HEADER = Struct(">qi5xI2xi")
_LENGTH_FROM = 12
_CHECKSUM_FROM = 21
_KEY = Struct(">IQ")


def check_pages(folder: Path) -> None:
    from lmdb.verify import VerifyError, verify

    try:
        problems = verify(os.fspath(folder / "data.mdb"))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        problems = [str(error)]
    if problems:
        raise _damaged(folder, problems[0])


def check_batches(folder: Path, env: lmdb.Environment, batches: _Database) -> None:
    last_of: dict[int, int] = {}
    with env.begin(buffers=True) as txn:
        for key, entry in txn.cursor(batches):
            partition_id, last_offset = _KEY.unpack(key)
            wrong = _what_is_wrong(entry, last_offset, last_of.get(partition_id, -1))
            if wrong:
                raise _damaged(folder, f"partition {partition_id}, offset {last_offset}: {wrong}")
            last_of[partition_id] = last_offset


def _what_is_wrong(entry: memoryview, last_offset: int, last_before: int) -> str | None:
    """An entry is one batch, or several side by side; the key is the last offset of the last."""
    while entry:
        if len(entry) < _HEADER.size:
            return "no batch"
        base_offset, length, checksum, last_offset_delta = _HEADER.unpack_from(entry)
        end = length + _LENGTH_FROM
        if not _CHECKSUM_FROM < end <= len(entry):
            return "another length than it says"
        if base_offset <= last_before or last_offset_delta < 0:
            return f"a batch of offset {base_offset}"
        if crc32c(entry[_CHECKSUM_FROM:end]) != checksum:
            return "another checksum than it says"
        last_before = base_offset + last_offset_delta
        entry = entry[end:]
    return None if last_before == last_offset else f"it ends at {last_before}"


def _damaged(folder: Path, problem: str) -> StorageDamaged:
    return StorageDamaged(
        f"the machine went down while the store in {folder} was open with flush=os, and the store "
        f"is damaged ({problem}): restore a copy, or begin with an empty folder"
    )
