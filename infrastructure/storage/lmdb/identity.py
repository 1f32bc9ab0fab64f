"""Identity: marks an LMDB environment as a store of Ottla, with format and id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import lmdb

from infrastructure.storage.errors import StorageDamaged, StorageOtherFormat

if TYPE_CHECKING:
    from lmdb import _Database

#: Changes with the layout: a store in another format is refused.
FORMAT = 5
#: It has large batches in one row each (parts.py); opening it to write makes it FORMAT.
WITHOUT_PARTS = 4

FORMAT_ROW = b"store\0format"
ID_ROW = b"store\0id"
#: How often acknowledged data may have been lost: the leader epoch. An import raises it.
LOSSES_ROW = b"store\0losses"


class Identity(NamedTuple):
    format: int
    store_id: str
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
    if int(written_format) not in (FORMAT, WITHOUT_PARTS):
        raise StorageOtherFormat(
            f"the store in {folder} has format {int(written_format)}; "
            f"this version of Ottla reads formats {WITHOUT_PARTS} and {FORMAT} only"
        )
    return Identity(
        int(written_format),
        store_id.decode(),
        rows,
        env.open_db(b"batches", create=False),
        env.open_db(b"timestamps", create=False),
    )
