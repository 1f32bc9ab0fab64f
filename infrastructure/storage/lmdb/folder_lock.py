"""FolderLock: one broker to a data folder.

LMDB itself lets several processes write in turn; two brokers that both believe to know the log end
would ruin each other's offsets. Processes that only read need no lock.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from infrastructure.storage.errors import StorageInUse

LOCK_FILE = "ottla.lock"


class FolderLock:
    """Held until `release`, or until the process is gone, however it goes."""

    __slots__ = ("_descriptor",)

    def __init__(self, folder: Path) -> None:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, b"%d\n" % os.getpid())
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"process {holder}" if holder else "another process"
            raise StorageInUse(f"the data folder {folder} is in use by {who}") from error
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        # The file stays: removing it would let two processes lock two files of the same name.
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
