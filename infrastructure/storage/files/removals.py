"""Removals: files and folders that commits have removed.

With flush=interval they stay until the next flush: a power cut may bring back the rows that name
them. Their folder may get another name meanwhile, and their name another file.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from typing import NamedTuple


class Removal(NamedTuple):
    path: str
    inode: int


class Removals:
    __slots__ = ("_deferred", "_flushing", "_lock", "defers")

    def __init__(self) -> None:
        self.defers = False
        #: Held while a folder is renamed: the thread of the flush removes files.
        self._lock = threading.Lock()
        self._deferred: list[Removal] = []
        self._flushing: list[Removal] = []

    def remove(self, path: str) -> None:
        if not self.defers:
            remove(path)
            return
        with suppress(FileNotFoundError):
            self._deferred.append(Removal(path, os.stat(path).st_ino))

    def rename(self, folder: str, to: str) -> None:
        """Raises OSError."""
        with self._lock:
            os.rename(folder, to)
            for removals in (self._deferred, self._flushing):
                removals[:] = [_moved(one, folder, to) for one in removals]

    def forget(self) -> None:
        """Other files take the places of those that were to go."""
        with self._lock:
            self._deferred.clear()
            self._flushing.clear()

    def begin_flush(self) -> None:
        """What is removed by now may go once all that is committed is durable."""
        with self._lock:
            self._flushing += self._deferred
            self._deferred.clear()

    def flushed(self) -> None:
        """In the thread of the flush."""
        while self._flushing:
            with self._lock, suppress(FileNotFoundError, IndexError):
                path, inode = self._flushing.pop()
                if os.stat(path).st_ino == inode:
                    remove(path)


def _moved(removal: Removal, folder: str, to: str) -> Removal:
    path = removal.path
    if path == folder or path.startswith(f"{folder}/"):
        return removal._replace(path=to + path[len(folder) :])
    return removal


def remove(path: str) -> None:
    """If it is there; the next start tries again."""
    with suppress(OSError):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
