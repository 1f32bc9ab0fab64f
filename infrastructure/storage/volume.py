"""The volume that a store lies on; a store in memory lies on none."""

from __future__ import annotations

import os
from pathlib import Path

from application.ports.volume import UNKNOWN_SPACE, Space

NO_PLACE = "memory"


class StorageVolume:
    __slots__ = ("_folder", "path")

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.path = NO_PLACE if folder is None else os.fspath(folder.absolute())

    def space(self) -> Space:
        if self._folder is None:
            return UNKNOWN_SPACE
        try:
            volume = os.statvfs(self._folder)
        except OSError:
            return UNKNOWN_SPACE
        return Space(volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize)
