"""The volume that a store lies on; one in memory or in a database lies on none."""

from __future__ import annotations

import os

from application.ports.volume import UNKNOWN_SPACE, Space
from infrastructure.storage.engine import StorageInfo


class StorageVolume:
    __slots__ = ("_folder", "path")

    def __init__(self, info: StorageInfo) -> None:
        self._folder = info.path
        #: For clients: DescribeLogDirs.
        self.path = info.kind if info.path is None else os.fspath(info.path.absolute())

    def space(self) -> Space:
        if self._folder is None:
            return UNKNOWN_SPACE
        try:
            volume = os.statvfs(self._folder)
        except OSError:
            return UNKNOWN_SPACE
        return Space(volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize)
