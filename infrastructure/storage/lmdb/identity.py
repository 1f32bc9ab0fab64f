"""Identity: what tells that an LMDB environment is a store of Ottla, and which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import lmdb

from infrastructure.storage.errors import StorageDamaged, StorageTooNew

if TYPE_CHECKING:
    from lmdb import _Database

#: Raised when an older Ottla could not read what this one writes. 2: entries of several batches.
#: 3: logs that do not start at 0.
FORMAT = 3

FORMAT_ROW = b"store\0format"
ID_ROW = b"store\0id"


class Identity(NamedTuple):
    store_id: str
    #: What it is marked with: this one's, or an older one's.
    format: int
    rows: _Database
    batches: _Database
    timestamps: _Database


def identify(env: lmdb.Environment, folder: Path) -> Identity:
    if b"rows" not in env.dbs():
        raise StorageDamaged(f"{folder} holds an LMDB environment that is not Ottla's")
    rows = env.open_db(b"rows", create=False)
    with env.begin() as txn:
        written_format = txn.get(FORMAT_ROW, db=rows)
        store_id = txn.get(ID_ROW, db=rows)
    if written_format is None or store_id is None or not written_format.isdigit():
        raise StorageDamaged(f"the store in {folder} has lost its format and id")
    if int(written_format) > FORMAT:
        raise StorageTooNew(
            f"the store in {folder} has format {int(written_format)}; "
            f"this version of Ottla knows formats up to {FORMAT}"
        )
    return Identity(
        store_id.decode(),
        int(written_format),
        rows,
        env.open_db(b"batches", create=False),
        env.open_db(b"timestamps", create=False),
    )
