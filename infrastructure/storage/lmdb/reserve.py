"""Reserve: room on the disk for deletions when the disk is full.

LMDB writes new pages before it frees old ones, so a deletion needs room, too. A file beside the
store holds it. The first commit that finds no space fails, and the file's blocks become the end of
`data.mdb`, before another program takes them. From then on records are refused before they are
staged, and those of __consumer_offsets are left out: deletions share these blocks with small rows
only, and succeed. Records are accepted again as soon as the disk has room for a new reserve, or the
store has as many free pages: those are the reserve then.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import lmdb

RESERVE_FILE = "ottla.reserve"
#: A slice of a deletion takes up to about a hundred pages of 4 KiB, and the next but one reuses
#: what it freed; with `flush = interval` that takes until the next flush.
RESERVE_BYTES = 4 << 20
#: A batch takes whole pages, so up to twice its size.
_ROUNDED_UP = 2
#: A quota may refuse what the disk has room for; not with every record.
_RETRY_S = 1.0
_NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


class Environment(Protocol):
    """What the reserve needs of an environment."""

    folder: Path
    env: lmdb.Environment

    @property
    def data_file(self) -> Path: ...

    @property
    def used_bytes(self) -> int: ...

    @property
    def live_bytes(self) -> int: ...


class Reserve:
    """Implements application.ports.reserve.Reserve."""

    __slots__ = (
        *("_admitted_bytes", "_environment", "_file", "_retry_at_s", "_txn_id"),
        "is_released",
    )

    is_read_only = False

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._file = environment.folder / RESERVE_FILE
        self.is_released = True
        #: Of records, since the newest commit.
        self._admitted_bytes = 0
        self._txn_id = 0
        self._retry_at_s = 0.0

    def make(self) -> bool:
        """False if the disk has no room for it; without a permission there is none."""
        for _ in range(2):  # another user may own the first one
            try:
                allocate(self._file, 0, RESERVE_BYTES)
            except OSError as error:
                self.remove()
                self.is_released = error.errno in _NO_ROOM
            else:
                self.is_released = False
                break
        return not self.is_released

    def remove(self) -> bool:
        """False: there is none."""
        self.is_released = True
        with suppress(OSError):
            self._file.unlink()
            return True
        return False

    def release(self) -> None:
        """After a commit that found no space."""
        self._admitted_bytes = 0
        if self.remove():
            environment = self._environment
            with suppress(OSError):
                allocate(environment.data_file, environment.used_bytes, RESERVE_BYTES, create=0)

    def admits(self, size_bytes: int) -> bool:
        try:
            return (
                not self.is_released
                or (self._disk_has_room() and self._make_again())
                or self._has_free_pages(size_bytes)
            )
        except (lmdb.Error, OSError):  # the next commit says why
            return False

    def _make_again(self) -> bool:
        now_s = time.monotonic()
        if now_s < self._retry_at_s:
            return False
        if not self.make():
            self._retry_at_s = now_s + _RETRY_S
        return not self.is_released

    def _has_free_pages(self, size_bytes: int) -> bool:
        environment = self._environment
        txn_id = environment.env.info()["last_txnid"]
        if txn_id != self._txn_id:
            self._txn_id, self._admitted_bytes = txn_id, 0
        free_bytes = environment.used_bytes - environment.live_bytes - self._admitted_bytes
        if free_bytes - _ROUNDED_UP * size_bytes < RESERVE_BYTES:
            return False
        self._admitted_bytes += _ROUNDED_UP * size_bytes
        return True

    def _disk_has_room(self) -> bool:
        """For records, too: else the next of them would release it again."""
        volume = os.statvfs(self._file.parent)
        return volume.f_bavail * volume.f_frsize >= 2 * RESERVE_BYTES


def allocate(file: Path, start: int, size_bytes: int, create: int = os.O_CREAT) -> None:
    """Blocks that are not written keep their content, and missing ones become zeros.

    Raises OSError if the disk has no room.
    """
    descriptor = os.open(file, os.O_RDWR | create | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.posix_fallocate(descriptor, start, size_bytes)
            return
        except AttributeError:
            pass  # macOS
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise
        there = max(start, os.fstat(descriptor).st_size)
        missing = bytes(max(0, start + size_bytes - there))
        if os.pwrite(descriptor, missing, there) < len(missing):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)
