"""FilesEnvironment: the environment of the rows; syncing it syncs the files before."""

from __future__ import annotations

import os

from infrastructure.storage.files.places import sync_file_system
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.identity import IN_FILES, IN_KAFKAS_FOLDER


class FilesEnvironment(LmdbEnvironment):
    __slots__ = ()

    layout = IN_FILES

    def sync(self) -> None:
        """The rows last: they say what the files have."""
        if not self.read_only:
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                sync_file_system(descriptor)
            finally:
                os.close(descriptor)
        super().sync()

    def _check_batches(self) -> None:
        from infrastructure.storage.files.power_cut import cut_logs

        if shorter := cut_logs(self):
            self.power_cut = (
                "the machine went down while the store was open with flush=os: each log was "
                f"looked at and cut at its first batch that is not whole: {shorter}"
            )


class InKafkasFolder(FilesEnvironment):
    """A store that may be made in a log folder of Kafka's."""

    __slots__ = ()

    layout = IN_KAFKAS_FOLDER
