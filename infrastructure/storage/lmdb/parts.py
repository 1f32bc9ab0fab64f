"""Parts: the rows of one entry of `batches`.

Once retention has removed batches, free pages of the file are scattered, and LMDB looks through all
of them for enough consecutive ones whenever a value is large. So a large batch is stored in parts:
the first under the key of the entry, the others under that key with a number behind it, which sorts
directly after it. The length in the header of the batch says whether others follow: stores of
format 4 have large batches in one row, and stay readable. See docs/internals/adr/0033.
"""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import TYPE_CHECKING

from application.ports.log_store import Buffer
from domain.messages.batch import EXTENT, LENGTH_OVERHEAD_BYTES
from infrastructure.storage.lmdb.keys import KEY

if TYPE_CHECKING:
    from lmdb import Cursor, Transaction, _Database

#: Of LMDB's at the beginning of consecutive pages.
_PAGE_HEADER_BYTES = 16
#: Larger entries are stored in parts. 16 pages of 4 KiB.
WHOLE_BYTES = (64 << 10) - _PAGE_HEADER_BYTES
#: 4 pages: LMDB finds those much faster than 16, and batches of 64 KB and less leave such gaps.
PART_BYTES = (16 << 10) - _PAGE_HEADER_BYTES
#: Of the second part and each further one: 1, 2...
_NUMBER = Struct(">I")
FURTHER_KEY_BYTES = KEY.size + _NUMBER.size


def put_parts(txn: Transaction[memoryview], database: _Database, key: bytes, entry: Buffer) -> bool:
    """False if the key exists."""
    if len(entry) <= WHOLE_BYTES:
        return txn.put(key, entry, overwrite=False, db=database)
    view = memoryview(entry)
    for number, start in enumerate(range(0, len(view), PART_BYTES)):
        part_key = key + _NUMBER.pack(number) if number else key
        part = view[start : start + PART_BYTES]
        if not txn.put(part_key, part, overwrite=False, db=database):
            return False
    return True


def further_bytes(first: memoryview) -> int:
    """What the other parts of an entry have."""
    if len(first) != PART_BYTES:
        return 0
    _, length, _ = EXTENT.unpack_from(first)
    return max(0, int(length) + LENGTH_OVERHEAD_BYTES - PART_BYTES)


def parts_at(cursor: Cursor[memoryview]) -> list[memoryview]:
    """Of the entry that the cursor stands on, as many as there are; the cursor moves."""
    parts = [cursor.value()]
    missing_bytes = further_bytes(parts[0])
    while missing_bytes > 0 and cursor.next() and len(cursor.key()) == FURTHER_KEY_BYTES:
        parts.append(cursor.value())
        missing_bytes -= len(parts[-1])
    return parts


def all_parts_at(cursor: Cursor[memoryview]) -> list[memoryview]:
    """Raises struct.error if one is missing."""
    _, last_offset = KEY.unpack(cursor.key())
    parts = parts_at(cursor)
    if sum(map(len, parts)) != PART_BYTES + further_bytes(parts[0]):
        raise StructError(f"a part of the batch up to offset {last_offset} is missing")
    return parts


def next_entry(
    cursor: Cursor[memoryview], first: memoryview, partition_id: int, last_offset: int
) -> bool:
    """Moves to the entry after the one with this key; without standing on the parts of that one."""
    if len(first) != PART_BYTES:  # the length in the header may be damaged
        return cursor.next()
    return cursor.set_range(KEY.pack(partition_id, last_offset + 1))


def delete_entry(cursor: Cursor[memoryview]) -> int:
    """Deletes all parts, and moves on; returns their size."""
    size_bytes = len(cursor.value())
    cursor.delete()
    while len(cursor.key()) == FURTHER_KEY_BYTES:
        size_bytes += len(cursor.value())
        cursor.delete()
    return size_bytes
