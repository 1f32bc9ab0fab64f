"""LogFolder: the folders of all logs, named as Kafka names them, and what is done to their files.

    orders-0                             the log of a partition
    partition.0000000000000000000000000000002a-stray
                                         that of partition id 42, which belongs to no topic: of a
                                         deleted one, or of an import that is not complete

A log loses its name before the commit that says so, and gets one after it: where a log has a folder
without a name, that folder has its data.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import error as StructError

from application.ports.log_store import LogName
from infrastructure.storage.files.headers import Damaged
from infrastructure.storage.files.loading import KINDS, cut_tails, recover, segments_of, swap_files
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.open_files import OpenFiles
from infrastructure.storage.files.places import (
    has_batches,
    has_topic_id,
    is_of_another,
    named_folder,
    sync_file_system,
    unnamed_folder,
    write_topic_id,
)
from infrastructure.storage.files.removals import Removals, remove
from infrastructure.storage.files.rows import (
    EMPTY,
    SEGMENT_PREFIX,
    LogRow,
    key_of,
    partition_of,
    unpack,
)
from infrastructure.storage.files.segment import CLEANED, LOG, Segment, name_of
from infrastructure.storage.lmdb.commit import UNREADABLE
from infrastructure.storage.lmdb.own_rows import OwnRows
from infrastructure.storage.sync_folder import sync_folder

#: Kafka's own, which belong to a segment as well.
_BESIDE = ".txnindex", ".snapshot"
#: Folders of snapshots, which no start needs.
SNAPSHOTS = "ottla.snapshot"
_UNNAMED = re.compile(r"partition\.([0-9a-f]{32})-stray")
_OF_A_LOG = re.compile(rf"[a-zA-Z0-9._-]+-\d+|{_UNNAMED.pattern}")
#: The second is Kafka's name for folders that go.
_LEFT_OVER = re.compile(rf"{re.escape(SNAPSHOTS)}\.[0-9a-f]{{32}}-stray|.+\.[0-9a-f]{{32}}-delete")


class LogFolder:
    def __init__(self, root: Path, rows: OwnRows, files: OpenFiles, beside: bool) -> None:
        """`beside`: another process may write."""
        self._root = str(root)
        self.rows = rows
        self.segment_rows = rows.other(SEGMENT_PREFIX)
        self.files = files
        self._beside = beside
        self._logs: dict[int, LogFiles] = {}
        self.removals = Removals()
        #: Files and folders stay as they are; rows may say something else.
        self.is_frozen = False
        #: Each commit is fsynced.
        self.syncs = False
        #: Makes everything durable that is committed.
        self.keep: Callable[[], None] = lambda: None
        #: Partition id and segment.
        self._swapped: set[tuple[int, int]] = set()
        self._descriptor = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
        #: Those with files that a failed pass could not remove.
        self._left_over: set[int] = set()
        if not files.read_only:
            self._remove_left_over()

    def _remove_left_over(self) -> None:
        """What a killed process had not removed yet: without a row it belongs to no log."""
        for name in os.listdir(self._root):
            unnamed = _UNNAMED.fullmatch(name)
            is_unknown = unnamed and self.rows.get(key_of(int(unnamed[1], 16))) is None
            if is_unknown or _LEFT_OVER.fullmatch(name):
                remove(f"{self._root}/{name}")

    # ---- logs

    def find(self, partition_id: int) -> LogFiles | None:
        """None: it has no row. Raises OSError or lmdb.Error."""
        known = self._logs.get(partition_id)
        if known is not None and not self._beside:
            return known
        row = self._row(partition_id)
        if row is None:
            self._logs.pop(partition_id, None)
            return None
        if known is not None and self._beside and self._has_changed(known, row):
            self.forget(partition_id)
            known = None
        if known is None:
            known = self._logs[partition_id] = self._load(partition_id, row)
        return known

    def _has_changed(self, log: LogFiles, row: LogRow) -> bool:
        """Beside a broker: names of replaced files are those of before, and so may be the row."""
        if log.row != row:
            return True
        try:
            return bool(log.segments) and os.stat(log.folder).st_mtime_ns != log.changed_at
        except FileNotFoundError:
            return True

    def _row(self, partition_id: int) -> LogRow | None:
        packed = self.rows.get(key_of(partition_id))
        try:
            return None if packed is None else unpack(packed)
        except (StructError, ValueError) as damage:
            raise Damaged(f"the row of partition {partition_id} is damaged: {damage}") from damage

    def find_to_drop(self, partition_id: int) -> LogFiles | None:
        """Without its segments if it is damaged. Raises OSError or lmdb.Error."""
        try:
            return self.find(partition_id)
        except OSError:
            row = self._row(partition_id) or EMPTY
            return LogFiles(partition_id, self._settled(partition_id, row), row, [])

    def new(self, partition_id: int) -> LogFiles:
        log = LogFiles(partition_id, self._unnamed(partition_id), EMPTY, [])
        self._logs[partition_id] = log
        return log

    def adopted(self, partition_id: int, name: LogName, row: LogRow) -> LogFiles:
        """Of files that are there, and get their row with the next commit."""
        log = LogFiles(partition_id, self._named(name), EMPTY._replace(name=name), [])
        self._logs[partition_id] = log
        return log

    def segments_of(self, log: LogFiles, row: LogRow, bases: set[int]) -> list[Segment]:
        """Raises OSError."""
        return segments_of(LogFiles(log.partition_id, log.folder, row, []), self.files, bases)

    def forget(self, partition_id: int) -> None:
        log = self._logs.pop(partition_id, None)
        if log is not None:
            self.files.forget_below(log.folder)

    def load_again(self, log: LogFiles) -> None:
        """At the next use, which removes what belongs to no commit, or fails."""
        self._left_over.add(log.partition_id)
        self.forget(log.partition_id)

    def may_have_changed(self, error: Exception) -> bool:
        return self._beside and isinstance(error, FileNotFoundError | Damaged)

    def check_unchanged(self, log: LogFiles) -> None:
        """Raises Damaged if compaction may have replaced files while they were read."""
        if self._beside:
            now = self.find(log.partition_id)
            if now is not log and (now is None or not now.begins_like(log)):
                raise Damaged(f"{log.folder} has changed")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Reads wait for the disk."""
        before, self.files.waits = self.files.waits, True
        try:
            yield
        finally:
            self.files.waits = before

    def partition_ids(self) -> list[int]:
        """Those with batches. Raises lmdb.Error."""
        return [partition_of(key) for key, row in self.rows.scan() if unpack(row).has_batches]

    def size_bytes(self) -> int:
        """Of the segments. Raises OSError."""
        return sum(
            os.path.getsize(f"{folder}/{name}")
            for folder in self.folders()
            for name in os.listdir(folder)
            if name.endswith(LOG)
        )

    def folders(self) -> Iterator[str]:
        """Of all logs, also of those that the rows do not know. Raises OSError."""
        for entry in os.scandir(self._root):
            if _OF_A_LOG.fullmatch(entry.name) and entry.is_dir():
                yield entry.path

    def folders_in_rows(self) -> Iterator[str]:
        """Of rows that are not damaged. Raises OSError or lmdb.Error."""
        for key, packed in self.rows.scan():
            with suppress(StructError, ValueError):
                yield self._settled(partition_of(key), unpack(packed))

    # ---- loading

    def _load(self, partition_id: int, row: LogRow) -> LogFiles:
        if self.removals.defers and partition_id in self._left_over:
            # What the newest row lacks, that of the recovery point may have.
            self.keep()
        folder = self._settled(partition_id, row)
        log = LogFiles(partition_id, folder, row, [])
        if self._beside and row.has_batches:
            log.changed_at = os.stat(folder).st_mtime_ns
        bases = self._bases(partition_id, row)
        if self.files.read_only:
            log.change(segments_of(log, self.files, bases))
            return log
        if row.name is not None and not has_topic_id(folder):
            write_topic_id(folder, row.name)
        recover(log, bases)
        if any(one.is_complete for one in row.rewrites):
            self._end_swaps(log)
        log.change(segments_of(log, self.files, bases))
        cut_tails(log.segments)
        self._left_over.discard(partition_id)
        return log

    def _bases(self, partition_id: int, row: LogRow) -> set[int]:
        """Of the segments, by the rows."""
        if not row.has_batches:
            return set()
        rows = self.rows.other(SEGMENT_PREFIX + key_of(partition_id))
        finished = {int.from_bytes(base, "big") for base, _ in rows.scan()}
        return {base for base in finished if base < row.active_base} | {row.active_base}

    def _settled(self, partition_id: int, row: LogRow) -> str:
        """The folder of a log, after it has its name."""
        unnamed = self._unnamed(partition_id)
        if row.name is None:
            return unnamed
        named = self._named(row.name)
        has_no_name = os.path.isdir(unnamed)
        if self.files.read_only:
            return unnamed if has_no_name else named
        if (has_no_name or not row.has_batches) and is_of_another(named, row.name):
            self._put_aside(named)
        if has_no_name:
            self._move(unnamed, named)
        return named

    def _put_aside(self, folder: str) -> None:
        self.files.forget_below(folder)
        self.removals.rename(folder, f"{folder}.{uuid.uuid4().hex}-stray")

    def _move(self, folder: str, to: str) -> None:
        if os.path.isdir(to):  # of a log that was never committed
            self.removals.rename(to, f"{to}.{uuid.uuid4().hex}-delete")
        self.removals.rename(folder, to)

    # ---- folders

    def _unnamed(self, partition_id: int) -> str:
        return unnamed_folder(self._root, partition_id)

    def _named(self, name: LogName) -> str:
        return named_folder(self._root, name)

    def check_writable(self) -> None:
        if self.is_frozen:
            raise OSError(errno.EROFS, "the store is read-only")

    def make_folder(self, log: LogFiles) -> None:
        """Raises OSError."""
        if log.segments:
            return
        if os.path.isdir(log.folder):
            if log.row.end_offset > 0 or not has_batches(log.folder):
                return
            self._put_aside(log.folder)
        os.mkdir(log.folder, 0o700)
        if log.row.name is not None:
            write_topic_id(log.folder, log.row.name)

    def move_away(self, log: LogFiles, segments: list[Segment]) -> str:
        """Before the commit that takes its name; returns the folder that it had.

        Without a folder too: that of its name may soon be another log's.
        """
        folder = log.folder
        self._rename(log, self._unnamed(log.partition_id), segments)
        return folder

    def move_back(self, log: LogFiles, folder: str, segments: list[Segment]) -> None:
        self._rename(log, folder, segments)

    def _rename(self, log: LogFiles, to: str, segments: list[Segment]) -> None:
        self.files.forget_below(log.folder)
        if os.path.isdir(log.folder) and not self.is_frozen:
            self._move(log.folder, to)
        log.folder = to
        for segment in segments:
            segment.rename(to, segment.suffix)

    def put_aside(self, to: str) -> None:
        """The folders of all logs, in favour of a snapshot. Raises OSError."""
        for partition_id in list(self._logs):
            self.forget(partition_id)
        for name in os.listdir(self._root):
            if _OF_A_LOG.fullmatch(name):
                self.removals.rename(f"{self._root}/{name}", f"{to}/{name}")

    # ---- after a commit

    def after_commit(
        self, log: LogFiles, removed: list[Segment], swapped: list[Segment], dropped: bool
    ) -> None:
        """Nothing that fails here is lost: the next start ends it."""
        self._logs[log.partition_id] = log
        if self.is_frozen:
            return
        with suppress(OSError):
            name = log.row.name
            if name is not None and log.folder == self._unnamed(log.partition_id):
                if is_of_another(self._named(name), name):
                    self._put_aside(self._named(name))
                self._rename(log, self._named(name), [*log.segments, *removed])
                if os.path.isdir(log.folder):
                    write_topic_id(log.folder, name)
        for segment in removed:
            self._remove(segment)
        if swapped:
            try:
                self._swap(log, swapped)
            except (OSError, *UNREADABLE):
                self.load_again(log)
        if dropped:
            self.forget(log.partition_id)
            self.removals.remove(log.folder)

    def _remove(self, segment: Segment) -> None:
        for kind in KINDS:
            path = segment.path_of(kind)
            self.files.forget(path)
            self.removals.remove(path)
        if not segment.suffix:
            for kind in _BESIDE:
                self.removals.remove(segment.path_of(kind))

    def before_rewrite(self, partition_id: int, base_offset: int) -> None:
        """After a power cut the row may say that `.cleaned` takes its place: of the rewrite before,
        unless that row is gone durably. Raises OSError or lmdb.Error.
        """
        if self.removals.defers and (partition_id, base_offset) in self._swapped:
            self.keep()
            self._swapped.clear()

    def unswapped(self, log: LogFiles) -> set[int]:
        rewrites = log.row.rewrites
        return {one.base_offset for one in rewrites if one.is_complete}

    def _swap(self, log: LogFiles, swapped: list[Segment]) -> None:
        if self.removals.defers:
            self.keep()
        for segment in swapped:
            segment.end_appends()
            os.truncate(segment.path, segment.size_bytes)
            plain = f"{segment.folder}/{name_of(segment.file_base)}"
            for kind in KINDS:
                for suffix in ("", CLEANED):
                    self.files.forget(f"{plain}{kind}{suffix}")
            swap_files(plain)
            segment.rename(segment.folder, "")
            segment.forget_index()
        self._end_swaps(log)

    def _end_swaps(self, log: LogFiles) -> None:
        """The files have their names, which the row says no more."""
        if self.syncs:
            sync_folder(Path(log.folder))
        self._swapped |= {(log.partition_id, base) for base in self.unswapped(log)}
        rewrites = tuple(one for one in log.row.rewrites if not one.is_complete)
        row = log.row._replace(rewrites=rewrites)
        self.rows.put_at_once(key_of(log.partition_id), row.pack())
        log.row = row

    # ---- durability

    def sync_all(self) -> None:
        """All files and names of the file system. Raises OSError."""
        sync_file_system(self._descriptor)

    def close(self) -> None:
        for log in self._logs.values():
            for segment in log.segments:
                with suppress(OSError):
                    segment.end_appends()
        self.files.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
