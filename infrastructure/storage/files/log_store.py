"""The log in files: segments as Kafka writes them; rows and the timestamp index are in LMDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from application.ports.log_store import (
    NOT_INDEXED,
    Buffer,
    IndexEntry,
    LogName,
    NotInMemory,
    Trimmed,
)
from infrastructure.storage.files.entries import entries_of
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.rewriting import Rewriting
from infrastructure.storage.files.staged import StagedLogs
from infrastructure.storage.files.stopped_log import StoppedLog
from infrastructure.storage.lmdb.commit import UNREADABLE, WritePass, storage_failed
from infrastructure.storage.lmdb.entries import AlreadyThere
from infrastructure.storage.lmdb.timestamp_index import TimestampIndex

_UNREADABLE = (*UNREADABLE, OSError, ValueError)
_REFUSED = (*UNREADABLE, OSError, AlreadyThere)
T = TypeVar("T")

_ABOVE_ALL_OFFSETS = 1 << 63
#: Another process may remove files between two looks.
_ATTEMPTS = 5


class FilesLogStore:
    __slots__ = ("_folder", "_pass", "_staged", "_times")

    def __init__(
        self,
        times: TimestampIndex,
        folder: LogFolder,
        write_pass: WritePass,
        staged: StagedLogs,
    ) -> None:
        self._times = times
        self._folder = folder
        self._pass = write_pass
        self._staged = staged

    # ---- changes

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        txn = self._pass.txn or self._pass.begin()
        if txn is None:
            return
        try:
            self._staged.change(partition_id).append(last_offset, batch, begins_segment)
            if indexed_timestamp >= 0:
                self._times.put(txn, partition_id, indexed_timestamp, last_offset)
        except _REFUSED as error:
            self._pass.fail(error, len(batch))

    def name(self, partition_id: int, name: LogName | None) -> None:
        if self._pass.begin() is None:
            return
        try:
            self._staged.name(partition_id, name)
        except _REFUSED as error:
            self._pass.fail(error)

    def adopt(self, partition_id: int, name: LogName, stopped: StoppedLog) -> None:
        """Stages that files of Kafka's, in the folder of their name, are the log of a partition."""
        txn = self._pass.begin()
        if txn is None:
            return
        try:
            self._staged.adopt(partition_id, name, stopped.row(), stopped.bases)
            for timestamp, last_offset in stopped.times:
                self._times.put(txn, partition_id, timestamp, last_offset)
        except _REFUSED as error:
            self._pass.fail(error)

    def copy_before(self, partition_id: int, offset: int) -> bool:
        if self._pass.begin() is None:
            return False
        try:
            with self._folder.waiting():
                return Rewriting(self._staged.change(partition_id)).copy_before(offset)
        except _REFUSED as error:
            self._pass.fail(error)
            return False

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        txn = self._pass.begin()
        if txn is None:
            return 0
        try:
            with self._folder.waiting():
                rewriting = Rewriting(self._staged.change(partition_id))
                grown = rewriting.replace(first_offset, last_offset, batches)
            self._times.replace(txn, partition_id, first_offset, last_offset, indexed)
        except _REFUSED as error:
            self._pass.fail(error, sum(map(len, batches)))
            return 0
        return grown

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        txn = self._pass.begin()
        if txn is None:
            return Trimmed(0, False)
        try:
            with self._folder.waiting():
                size_bytes, no_segments = self._staged.change(partition_id).trim(
                    offset, max_batches
                )
            no_index = self._times.delete_below(txn, partition_id, offset, max_batches)
        except _REFUSED as error:
            self._pass.fail(error)
            return Trimmed(0, False)
        return Trimmed(size_bytes, no_segments and no_index)

    def drop(self, partition_id: int, max_batches: int) -> bool:
        txn = self._pass.begin()
        if txn is None:
            return False
        try:
            no_segments = self._staged.change_to_drop(partition_id).drop(max_batches)
            no_index = self._times.delete_below(txn, partition_id, _ABOVE_ALL_OFFSETS, max_batches)
        except _REFUSED as error:
            self._pass.fail(error)
            return False
        return no_segments and no_index

    # ---- reads

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        return bytes(self.read_to(partition_id, offset, end_offset, max_bytes, whole_first)[0])

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[Buffer, int]:
        if offset >= end_offset:
            return b"", offset

        def read(log: LogFiles) -> tuple[Buffer, int]:
            return log.read_to(offset, end_offset, max_bytes, whole_first)

        if loads:
            found = self._read(partition_id, read)
        else:
            found = None
            with suppress(NotInMemory), self._folder.files.loading_nothing():
                found = self._read(partition_id, read)
        return (b"", offset) if found is None else found

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """For readers that skip damage. Raises StorageFailed."""
        if offset >= end_offset:
            return []
        found = self._read(partition_id, lambda log: entries_of(log, offset, end_offset, max_bytes))
        return found or []

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        if not waits:
            return self._read(partition_id, lambda log: log.headers(offset, limit)) or []
        with self._folder.waiting():
            return self._read(partition_id, lambda log: log.headers(offset, limit)) or []

    def _read(self, partition_id: int, read: Callable[[LogFiles], T]) -> T | None:
        """None: there is no such log."""
        for attempt in range(_ATTEMPTS):
            try:
                log = self._folder.find(partition_id)
                if log is None:
                    return None
                found = read(log)
                self._folder.check_unchanged(log)
                return found
            except _UNREADABLE as error:
                self._repeat(partition_id, error, attempt)
        raise AssertionError

    def _repeat(self, partition_id: int, error: Exception, attempt: int) -> None:
        """Raises StorageFailed, unless another process may have removed the file."""
        if not self._folder.may_have_changed(error) or attempt + 1 == _ATTEMPTS:
            raise storage_failed("could not read", error) from error
        self._folder.forget(partition_id)

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        try:
            return self._times.find(partition_id, timestamp)
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error

    def last_offset(self, partition_id: int) -> int:
        """Of the newest batch; -1: there is none. Raises StorageFailed."""
        log = self._found(partition_id)
        try:
            return -1 if log is None else log.last_offset()
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error

    def end_offset(self, partition_id: int) -> int:
        """As its row says; 0: it has no batch. Raises StorageFailed."""
        log = self._found(partition_id)
        return 0 if log is None or not log.segments else log.row.end_offset

    def _found(self, partition_id: int) -> LogFiles | None:
        try:
            return self._folder.find(partition_id)
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error

    def partition_ids(self) -> list[int]:
        try:
            return self._folder.partition_ids()
        except _UNREADABLE as error:
            raise storage_failed("could not read", error) from error
