"""Removals: files and folders that commits have removed.

With flush=interval they stay until the next flush: a power cut may bring back the rows that name
them. Their folder may get another name meanwhile, and its name another folder.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress


class Removals:
    __slots__ = ("_deferred", "_flushing", "_lock", "defers")

    def __init__(self) -> None:
        self.defers = False
        #: Held while a folder is renamed: the thread of the flush removes files.
        self._lock = threading.Lock()
        self._deferred: list[str] = []
        self._flushing: list[str] = []

    def remove(self, path: str) -> None:
        if self.defers:
            self._deferred.append(path)
        else:
            remove(path)

    def rename(self, folder: str, to: str) -> None:
        """Raises OSError."""
        with self._lock:
            os.rename(folder, to)
            for paths in (self._deferred, self._flushing):
                paths[:] = [_moved(path, folder, to) for path in paths]

    def begin_flush(self) -> None:
        """What is removed by now may go once all that is committed is durable."""
        with self._lock:
            self._flushing += self._deferred
            self._deferred.clear()

    def flushed(self) -> None:
        """In the thread of the flush."""
        while self._flushing:
            with self._lock:
                remove(self._flushing.pop())


def _moved(path: str, folder: str, to: str) -> str:
    inside = path == folder or path.startswith(f"{folder}/")
    return to + path[len(folder) :] if inside else path


def remove(path: str) -> None:
    """If it is there; the next start tries again."""
    with suppress(OSError):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
