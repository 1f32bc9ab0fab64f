"""A store of files that is read beside its broker: the rows say how far each file is committed."""

from __future__ import annotations

from application.ports.log_store import LogStore
from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.log_store import FilesLogStore
from infrastructure.storage.files.open_files import OpenFiles, most_open_files
from infrastructure.storage.files.rows import PREFIX
from infrastructure.storage.files.staged import StagedLogs
from infrastructure.storage.lmdb.beside import StoreBeside
from infrastructure.storage.lmdb.commit import WritePass
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.identity import IN_FILES
from infrastructure.storage.lmdb.own_rows import OwnRows
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint
from infrastructure.storage.lmdb.timestamp_index import TimestampIndex


class FilesBeside(StoreBeside):
    __slots__ = ("_folder", "_log")

    layout = IN_FILES

    def _begin(self, known_whole: bool) -> None:
        point = RecoveryPoint(self.folder)
        if not known_whole and point.was_cut_off and point.found and not point.found.root:
            raise StorageDamaged(
                f"the machine went down while the store in {self.folder} was open with flush=os: "
                "its logs have to be looked at first, by a broker"
            )
        super()._begin(known_whole)

    def _opened_log(self, environment: LmdbEnvironment) -> tuple[LogStore, WritePass]:
        files = OpenFiles(most_open_files(), read_only=True)
        self._folder = LogFolder(
            self.folder, OwnRows(self.env, self.rows, PREFIX), files, beside=True
        )
        staged = StagedLogs(self._folder, syncs=False)
        write_pass = WritePass(environment, staged)
        self._log = FilesLogStore(
            TimestampIndex(self.env, self.timestamps), self._folder, write_pass, staged
        )
        return self._log, write_pass

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        return self._log.entries(partition_id, offset, end_offset, max_bytes)

    def last_offset(self, partition_id: int) -> int:
        """Also of a batch that cannot be read."""
        return self._log.end_offset(partition_id) - 1

    def close(self) -> None:
        if hasattr(self, "_folder"):  # else it was refused
            self._folder.close()
        super().close()
