"""StagedLogs: what a pass changes in all logs, and its part of the commit.

Batches are written behind the committed end of a file, where no reader looks, and become part of
the log with the row that says so. Files are removed, and take other names, after the commit.

    append      write -> put_all: fsync, row in the transaction -> LMDB's commit -> committed
    on failure  the files are cut to what the rows say

docs/internals/files.md has what a crash leaves at each step.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from application.ports.log_store import LogName
from infrastructure.storage.files.change import Change
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.files.rows import EMPTY, LogRow, key_of, segment_key
from infrastructure.storage.lmdb.commit import UNREADABLE

if TYPE_CHECKING:
    from infrastructure.storage.lmdb.commit import Txn


class StagedLogs:
    """Implements infrastructure.storage.lmdb.commit.StagedLog."""

    __slots__ = ("_changes", "_folder", "_syncs")

    def __init__(self, folder: LogFolder, syncs: bool) -> None:
        self._folder = folder
        #: Each commit is fsynced.
        self._syncs = syncs
        self._changes: dict[int, Change] = {}

    def change(self, partition_id: int) -> Change:
        """Raises OSError."""
        change = self._changes.get(partition_id)
        if change is None:
            log = self._folder.find(partition_id) or self._folder.new(partition_id)
            change = self._changes[partition_id] = Change(self._folder, log)
        return change

    def adopt(self, partition_id: int, name: LogName, row: LogRow, bases: set[int]) -> None:
        """Raises OSError."""
        log = self._folder.adopted(partition_id, name, row)
        change = self._changes[partition_id] = Change(self._folder, log)
        change.segments = self._folder.segments_of(log, row, bases)
        change.end_offset = row.end_offset

    def change_to_drop(self, partition_id: int) -> Change:
        """Also of a damaged log. Raises OSError."""
        if partition_id not in self._changes:
            log = self._folder.find_to_drop(partition_id)
            if log is not None:
                self._changes[partition_id] = Change(self._folder, log)
        return self.change(partition_id)

    def name(self, partition_id: int, name: LogName | None) -> None:
        """Raises OSError."""
        if name is None:
            log = self._folder.find_to_drop(partition_id)
            if log is not None and (partition_id in self._changes or log.row.name is not None):
                self.change_to_drop(partition_id).name = None
            return
        log = self._folder.find(partition_id)
        if partition_id in self._changes or log is None or log.row.name != name:
            self.change(partition_id).name = name

    def put_all(self, txn: Txn) -> None:
        for change in self._changes.values():
            for run in change.runs:
                run.write()
                if run.segment is not change.segments[-1] and not run.segment.suffix:
                    run.cut()
        for change in self._changes.values():
            if change.log.row.name is not None and (change.name is None or change.dropped):
                change.moved_from = self._folder.move_away(change.log, change.all_segments)
        if self._syncs:
            self._sync()
        elif not self._folder.removals.defers:
            self._sync_rewritten()
        for partition_id, change in self._changes.items():
            row = None if change.dropped else change.row().pack()
            self._folder.rows.put(txn, key_of(partition_id), row)
            with self._folder.waiting():
                for base, finished in change.finished():
                    key, packed = segment_key(partition_id, base), finished and finished.pack()
                    self._folder.segment_rows.put(txn, key, packed)

    def _sync(self) -> None:
        changes = self._changes.values()
        files = [run.segment.path for change in changes for run in change.runs]
        folders = any(change.made or change.moved_from for change in changes)
        if folders or len(files) > 1:
            self._folder.sync_all()
        elif files:
            os.fdatasync(self._folder.files.descriptor(files[0]))

    def _sync_rewritten(self) -> None:
        """Compaction takes away what was durable, so its result is, as in Kafka."""
        for change in self._changes.values():
            for run in change.runs:
                if run.segment.suffix:
                    os.fdatasync(self._folder.files.descriptor(run.segment.path))

    def committed(self) -> None:
        changes, self._changes = self._changes, {}
        # What is committed must not fail for data that is not in memory.
        with self._folder.waiting():
            names = any(change.names_batches for change in changes.values())
            if names and self._folder.removals.defers:
                # Before folders get names that the row of the recovery point does not have.
                with suppress(OSError, *UNREADABLE):
                    self._folder.keep()
            for change in changes.values():
                self._apply(change)

    def _apply(self, change: Change) -> None:
        log, folder = change.log, self._folder
        row, only_appends = change.row(), change.only_appends
        for run in change.runs:
            run.committed()
        if only_appends:
            log.row = row
            return
        for run in change.runs:
            segment = run.segment
            if segment is not change.segments[-1] and not segment.suffix:
                with suppress(OSError):
                    segment.end_appends()
        log.row = row
        log.change(change.segments)
        folder.after_commit(change.log, change.removed, change.swapped, change.dropped)

    def clear(self) -> None:
        changes, self._changes = self._changes, {}
        for change in changes.values():
            self._undo(change)

    def _undo(self, change: Change) -> None:
        files, left_over = self._folder.files, False
        if change.moved_from is not None:
            with suppress(OSError):
                self._folder.move_back(change.log, change.moved_from, change.all_segments)
        for segment in change.made:
            files.forget(segment.path)
            try:
                os.unlink(segment.path)
            except FileNotFoundError:
                pass
            except OSError:
                left_over = True
        for segment in change.appended:
            if segment not in change.made:
                with suppress(OSError):
                    os.ftruncate(files.descriptor(segment.path), segment.size_bytes)
        if left_over:
            self._folder.load_again(change.log)
        elif change.log.row is EMPTY:
            self._folder.forget(change.log.partition_id)
