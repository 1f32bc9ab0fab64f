"""FolderLock: one broker for a data folder.

LMDB lets several processes write in turn; two brokers would assign the same offsets. Processes that
only read need no lock where LMDB can write its table of readers.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from infrastructure.storage.errors import StorageInUse

LOCK_FILE = "ottla.lock"


class _Lock:
    __slots__ = ("_descriptor",)

    _descriptor: int

    def release(self) -> None:
        # The file stays: removing it would let two processes lock two files of the same name.
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class FolderLock(_Lock):
    """Held until `release` or the end of the process."""

    __slots__ = ()

    def __init__(self, folder: Path) -> None:
        self._descriptor = _locked(folder, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX)
        with suppress(OSError):  # on a full disk: the process id is for a message only
            os.ftruncate(self._descriptor, os.write(self._descriptor, b"%d\n" % os.getpid()))


class NobodyWrites(_Lock):
    """Held by any number of processes, none of which writes; also on a read-only file system."""

    __slots__ = ()

    def __init__(self, folder: Path) -> None:
        self._descriptor = -1
        with suppress(FileNotFoundError):  # a copy of a folder without its lock file
            self._descriptor = _locked(folder, os.O_RDONLY, fcntl.LOCK_SH)


def _locked(folder: Path, flags: int, kind: int) -> int:
    descriptor = os.open(folder / LOCK_FILE, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
        os.close(descriptor)
        who = f"process {holder}" if holder else "another process"
        raise StorageInUse(f"the data folder {folder} is in use by {who}") from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
