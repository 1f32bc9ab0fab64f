"""Which engine a folder's store is of, read from the bytes of its `data.mdb`.

LMDB trusts its file, and a process may have an environment open only once; this reads pages as a
plain file, also beside a broker, and follows no page that is not there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from struct import Struct
from struct import error as StructError

from infrastructure.storage.lmdb.identity import FORMAT_ROW, LAYOUTS, Layout
from infrastructure.storage.lmdb.inspection import DATA_FILE

_ORDER = "<" if sys.byteorder == "little" else ">"
#: Of a page: 10 bytes, flags, end of the pointers to its nodes.
_PAGE = Struct(f"{_ORDER}10xHH2x")
_POINTER = Struct(f"{_ORDER}H")
#: Of a node: lower and higher part of a size or page, flags, size of the key.
_NODE = Struct(f"{_ORDER}HHHH")
#: Of a meta page: magic, page size (in the table of free pages), root of all tables, transaction.
_META = Struct(f"{_ORDER}16xI20xI84xQ8xQ")
#: Of a table.
_ROOT = Struct(f"{_ORDER}40xQ")

_MAGIC = 0xBEEFC0DE
_BRANCH, _LEAF = 1, 2
_PAGE_BYTES = 512, 1 << 15
_DEEPEST = 32
#: A commit of the broker may reuse a page meanwhile.
_ATTEMPTS = 3


def layout_in(folder: Path) -> Layout | None:
    """None: there is no store, or one that cannot be read like this."""
    try:
        descriptor = os.open(folder / DATA_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        for _ in range(_ATTEMPTS):
            found = _format_in(descriptor)
            for layout in LAYOUTS:
                if found in (layout.format, *layout.older):
                    return layout
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return None


def _format_in(descriptor: int) -> int | None:
    """As of one of the two newest commits: after a power cut one may lack pages."""
    metas: list[tuple[int, int, int]] = []
    page_bytes = 0
    for number in range(2):
        try:
            head = os.pread(descriptor, _META.size, number * page_bytes)
            magic, page_bytes, root, transaction = _META.unpack(head)
        except StructError:
            break
        if magic != _MAGIC or not _PAGE_BYTES[0] <= page_bytes <= _PAGE_BYTES[1]:
            break
        metas.append((transaction, root, page_bytes))
    for _, root, page_bytes in sorted(metas, reverse=True):
        try:
            table = _find(descriptor, page_bytes, root, b"rows")
            row = table and _find(descriptor, page_bytes, _ROOT.unpack_from(table)[0], FORMAT_ROW)
        except StructError:
            continue
        if row and row.isdigit():
            return int(row)
    return None


def _find(descriptor: int, page_bytes: int, root: int, key: bytes) -> bytes | None:
    """The value of a key below a page. Raises struct.error."""
    number = root
    for _ in range(_DEEPEST):
        if number >= 1 << 48:  # of an empty table
            return None
        page = os.pread(descriptor, page_bytes, number * page_bytes)
        flags, end = _PAGE.unpack_from(page)
        child: int | None = None
        for at in range(_PAGE.size, end, _POINTER.size):
            (start,) = _POINTER.unpack_from(page, at)
            low, high, node_flags, key_bytes = _NODE.unpack_from(page, start)
            value_at = start + _NODE.size + key_bytes
            node_key = page[start + _NODE.size : value_at]
            if flags & _LEAF:
                if node_key == key:
                    return page[value_at : value_at + (low | high << 16)]
            elif child is None or node_key <= key:
                child = low | high << 16 | node_flags << 32
        if child is None or not flags & _BRANCH:
            return None
        number = child
    return None
