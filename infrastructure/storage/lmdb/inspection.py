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

#: base offset, (length), (leader epoch, magic), checksum, (attributes), last offset delta
_HEADER = Struct(">qixxxxxIxxi")
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
        for key, batch in txn.cursor(batches):
            partition_id, last_offset = _KEY.unpack(key)
            wrong = _what_is_wrong(batch, last_offset, last_of.get(partition_id, -1))
            if wrong:
                raise _damaged(folder, f"partition {partition_id}, offset {last_offset}: {wrong}")
            last_of[partition_id] = last_offset


def _what_is_wrong(batch: memoryview, last_offset: int, last_before: int) -> str | None:
    if len(batch) < _HEADER.size:
        return "no batch"
    base_offset, length, checksum, last_offset_delta = _HEADER.unpack_from(batch)
    if length + _LENGTH_FROM != len(batch):
        return "another length than it says"
    if base_offset + last_offset_delta != last_offset or base_offset <= last_before:
        return f"a batch of offset {base_offset}"
    if crc32c(batch[_CHECKSUM_FROM:]) != checksum:
        return "another checksum than it says"
    return None


def _damaged(folder: Path, problem: str) -> StorageDamaged:
    return StorageDamaged(
        f"the machine went down while the store in {folder} was open with flush=os, and the store "
        f"is damaged ({problem}): restore a copy, or begin with an empty folder"
    )
