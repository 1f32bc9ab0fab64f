"""RecoveryPoint: the newest synced state of a store that is not synced with every commit.

Without a sync in each commit the disk may receive a new root before the pages it points to, while
pages of the old root are already overwritten. So under `flush = interval` the newest synced root is
written to a file beside the store, and a read transaction on it stops LMDB from reusing its pages.
After a power cut that root is restored. See docs/internals/adr/0005.

The file `ottla.unsynced` exists while the store may have data that is not synced; closing the store
removes it. It has two slots, written in turn, so that one of them is always intact:

    checksum u32, number u64, boot id 36 bytes, length u16, the root's page up to where it ends

The boot id tells a power cut from a killed process, whose writes are all in the page cache. After
a failed fsync it is left empty: the page cache may hold data that never reached the disk, the
system reports that only once, and a later successful fsync does not change it. Under `flush = os`
nothing is synced and no root is saved; after a restart of the machine the whole store is checked
(`was_cut_off`).
"""

from __future__ import annotations

import os
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING

import lmdb

from infrastructure.storage.sync_folder import sync_folder

if TYPE_CHECKING:
    from lmdb import Transaction

UNSYNCED_FILE = "ottla.unsynced"

SLOT_BYTES = 4096
_CHECKSUM = Struct(">I")
_FIXED = Struct(">Q36sH")

#: Of LMDB 0.9: a page's header, then magic, version, address, map size, two databases, last page,
#: number of the transaction. The first database's first field is the page size.
_ROOT_BYTES = 152
_PAGE_SIZE = Struct("=I")
_PAGE_SIZE_AT = 40
_NUMBER = Struct("=Q")
_PAGE_NUMBER_AT = 0
_TXN_ID_AT = 144

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> bytes:
    """Changes with each start of the machine; empty if the system has none."""
    if sys.platform == "darwin":
        return _boot_session()
    try:
        return _BOOT_ID.read_bytes().strip()[:36]
    except OSError:
        return b""


def _boot_session() -> bytes:
    import ctypes

    value, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    ctypes.CDLL(None).sysctlbyname(
        b"kern.bootsessionuuid", value, ctypes.byref(size), None, ctypes.c_size_t(0)
    )
    return value.value[:36]


class Slot:
    __slots__ = ("boot", "number", "root")

    def __init__(self, number: int, boot: bytes, root: bytes) -> None:
        self.number = number
        self.boot = boot
        #: Empty under `flush = os`.
        self.root = root

    def pack(self) -> bytes:
        packed = _FIXED.pack(self.number, self.boot, len(self.root)) + self.root
        return (_CHECKSUM.pack(zlib.crc32(packed)) + packed).ljust(SLOT_BYTES, b"\0")


def unpack_slot(packed: bytes) -> Slot | None:
    start = _CHECKSUM.size + _FIXED.size
    if len(packed) < start:
        return None
    number, boot, length = _FIXED.unpack_from(packed, _CHECKSUM.size)
    whole = packed[_CHECKSUM.size : start + length]
    if zlib.crc32(whole) != _CHECKSUM.unpack_from(packed)[0]:
        return None
    return Slot(number, boot.rstrip(b"\0"), packed[start : start + length])


def _txn_id(root: bytes | bytearray) -> int:
    (txn_id,) = _NUMBER.unpack_from(root, _TXN_ID_AT)
    return int(txn_id)


class SlotNotWritten(OSError):
    """Nothing is lost: the other slot is whole, and its root is pinned."""


class PinnedRoot:
    __slots__ = ("pin", "root", "turn")

    def __init__(self, turn: int, pin: Transaction[bytes], root: bytes) -> None:
        self.turn = turn
        self.pin = pin
        self.root = root


class RecoveryPoint:
    """Created before the environment is opened, so that it can restore it after a power cut."""

    __slots__ = (
        "_boot", "_data_descriptor", "_data_file", "_descriptor", "_file", "_lock", "_lost",
        "_named", "_number", "_pin", "_root", "_turn", "found", "was_cut_off",
    )  # fmt: skip

    def __init__(self, folder: Path) -> None:
        self._file = folder / UNSYNCED_FILE
        self._data_file = folder / "data.mdb"
        #: Once: a process that has no descriptor left could not ask.
        self._boot = boot_id()
        self._descriptor = self._data_descriptor = -1
        self._pin: Transaction[bytes] | None = None
        #: Between the flush's thread and a map that grows.
        self._lock = threading.Lock()
        self._turn = 0
        #: The newest slot of a process that did not close the store.
        self.found = self._read()
        self._number = self.found.number if self.found is not None else 0
        #: The newest that was synced; empty where there is none.
        self._root = self.found.root if self.found is not None else b""
        self._lost = False
        #: On the disk, by this process: one that made the file may have been killed before.
        self._named = False
        #: The machine was restarted, or an fsync failed, while something was not synced.
        self.was_cut_off = self.found is not None and (
            not self.found.boot or self.found.boot != self._boot
        )

    def _read(self) -> Slot | None:
        try:
            packed = self._file.read_bytes()
        except FileNotFoundError:
            return None
        slots = [unpack_slot(packed[at : at + SLOT_BYTES]) for at in (0, SLOT_BYTES)]
        # No whole slot: the power went before the first one was written, and so before any commit.
        return max((slot for slot in slots if slot), key=lambda slot: slot.number, default=None)

    def restore(self) -> bool:
        """Writes the synced root over both roots; False: there is none."""
        if self.found is None or not self.found.root:
            return False
        root = bytearray(self.found.root)
        (page_size,) = _PAGE_SIZE.unpack_from(root, _PAGE_SIZE_AT)
        txn_id = _txn_id(root)
        descriptor = os.open(self._data_file, os.O_RDWR)
        try:
            for older in (1, 0):
                # LMDB looks for transaction n in page n % 2; the other page must be older.
                place = (txn_id - older) % 2
                _NUMBER.pack_into(root, _PAGE_NUMBER_AT, place)
                _NUMBER.pack_into(root, _TXN_ID_AT, txn_id - older)
                os.pwrite(descriptor, root, place * page_size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return True

    def is_newest(self) -> bool:
        """Whether the root that was synced is the newest in the file: it was put back, or nothing
        came after it."""
        if self.found is None or not self.found.root:
            return False
        (page_size,) = _PAGE_SIZE.unpack_from(self.found.root, _PAGE_SIZE_AT)
        with self._data_file.open("rb") as file:
            pages = file.read(page_size + _ROOT_BYTES)
        if len(pages) < page_size + _ROOT_BYTES:
            return False
        newest = max(_txn_id(pages[at:]) for at in (0, page_size))
        return newest == _txn_id(self.found.root)

    # ---- while the store is open

    def open(self) -> None:
        """At the start: later there may be no descriptor left, or no room for a second slot."""
        self._data_descriptor = os.open(self._data_file, os.O_RDONLY | os.O_CLOEXEC)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(self._file, flags, 0o600)
        size_bytes = os.fstat(self._descriptor).st_size
        if size_bytes < 2 * SLOT_BYTES:
            os.pwrite(self._descriptor, bytes(2 * SLOT_BYTES - size_bytes), size_bytes)

    def begin(self, env: lmdb.Environment) -> PinnedRoot:
        """Pins the newest commit and reads its root; no commit may run meanwhile."""
        pin = env.begin()
        try:
            for place in (0, 1):
                root = os.pread(self._data_descriptor, _ROOT_BYTES, place * env.stat()["psize"])
                if _txn_id(root) == pin.id():
                    return PinnedRoot(self._turn, pin, root)
            raise lmdb.CorruptedError(f"transaction {pin.id()} has no root")
        except BaseException:
            pin.abort()
            raise

    def sync_and_persist(self, pinned: PinnedRoot, sync: Callable[[], None]) -> None:
        """Syncs the pinned commit and releases the one before. Raises what `sync` raises."""
        try:
            sync()
            self.persist(pinned)
        except SlotNotWritten:
            raise
        except (lmdb.Error, OSError):
            self.lose()
            raise

    def persist(self, pinned: PinnedRoot) -> None:
        """After the pinned commit is synced; releases the one before."""
        with self._lock:
            if pinned.turn != self._turn:
                return  # its pages are not held any more
            if self._lost or self._is_older(pinned):
                pinned.pin.abort()
                return
            try:
                self._write(pinned.root, self._boot)
            except BaseException:
                pinned.pin.abort()
                raise
            self._root = pinned.root
            before, self._pin = self._pin, pinned.pin
            if before is not None:
                before.abort()

    def _is_older(self, pinned: PinnedRoot) -> bool:
        """The loop has kept a later commit while the flush's thread was at work.

        By the roots: a map that grows meanwhile ends the transactions, which could not be asked.
        """
        return self._pin is not None and _txn_id(pinned.root) < _txn_id(self._root)

    def keep_anew(self, env: lmdb.Environment, sync: Callable[[], None]) -> None:
        """After a new map, which ends all transactions, and before the next commit."""
        with self._lock:
            self._turn += 1
            self._pin = None
        self.sync_and_persist(self.begin(env), sync)

    def keep_nothing(self) -> None:
        """From now on the store may have unsynced commits, without a root to go back to."""
        self._write(b"", self._boot)

    def lose(self) -> None:
        """An fsync failed: no later root is recorded, and the next start goes back."""
        with self._lock:
            if self._lost:
                return
            self._lost = True
            if not self._root:
                return
            try:
                self._write(self._root, boot=b"")
            except OSError:
                pass  # a disk that takes nothing any more: the page cache may have it all the same

    def _write(self, root: bytes, boot: bytes) -> None:
        number = self._number + 1
        slot = Slot(number, boot, root).pack()
        try:
            written_bytes = os.pwrite(self._descriptor, slot, number % 2 * SLOT_BYTES)
        except OSError as error:
            raise SlotNotWritten(*error.args) from error
        if written_bytes != SLOT_BYTES:
            raise SlotNotWritten(f"{written_bytes} bytes of a slot were written")
        os.fsync(self._descriptor)
        self._number = number
        if not self._named:
            sync_folder(self._file.parent)
            self._named = True

    def close(self) -> None:
        pin, self._pin = self._pin, None
        if pin is not None:
            pin.abort()
        for descriptor in (self._data_descriptor, self._descriptor):
            if descriptor >= 0:
                os.close(descriptor)
        self._data_descriptor = self._descriptor = -1

    def forget(self) -> None:
        """All is synced."""
        if self._file.exists():
            self._file.unlink()
            sync_folder(self._file.parent)
