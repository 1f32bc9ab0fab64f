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


class Layout(NamedTuple):
    """Where the batches are."""

    scheme: str
    format: int
    #: What is read, besides `format`.
    older: tuple[int, ...] = ()
    #: A new store may be made in a log folder of Kafka's.
    takes_kafkas: bool = False


IN_LMDB = Layout("lmdb", FORMAT, (WITHOUT_PARTS,))
IN_FILES = Layout("files", 101)
IN_KAFKAS_FOLDER = IN_FILES._replace(takes_kafkas=True)
LAYOUTS = IN_LMDB, IN_FILES

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


def identify(env: lmdb.Environment, folder: Path, layout: Layout = IN_LMDB) -> Identity:
    if b"rows" not in env.dbs():
        raise StorageDamaged(f"{folder} holds an LMDB environment that is not Ottla's")
    rows = env.open_db(b"rows", create=False)
    with env.begin() as txn:
        written_format = txn.get(FORMAT_ROW, db=rows)
        store_id = txn.get(ID_ROW, db=rows)
    if written_format is None or store_id is None or not written_format.isdigit():
        raise StorageDamaged(f"the store in {folder} has lost its format and id")
    found_format = int(written_format)
    for other in LAYOUTS:
        if other.scheme != layout.scheme and found_format in (other.format, *other.older):
            raise StorageOtherFormat(
                f"the store in {folder} is one of {other.scheme}://, not {layout.scheme}://: "
                f"open it as {other.scheme}://{folder}"
            )
    if found_format not in (layout.format, *layout.older):
        known = " and ".join(str(one) for one in sorted((layout.format, *layout.older)))
        raise StorageOtherFormat(
            f"the store in {folder} has format {found_format}; "
            f"this version of Ottla reads formats {known} only"
        )
    return Identity(
        found_format,
        store_id.decode(),
        rows,
        env.open_db(b"batches", create=False),
        env.open_db(b"timestamps", create=False),
    )
