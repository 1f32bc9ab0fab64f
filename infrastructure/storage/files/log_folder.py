"""LogFolder: the folders of all logs, named as Kafka names them, and what is done to their files.

    orders-0                             the log of a partition
    partition.0000000000000000000000000000002a-stray
                                         that of partition id 42, which belongs to no topic: of a
                                         deleted one, or of an import that is not complete

A log loses its name before the commit that says so, and gets one after it: where a log has a folder
without a name, that folder has its data.
"""

from __future__ import annotations

import ctypes
import os
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import error as StructError

from application.ports.log_store import LogName
from infrastructure.kafka_folder import files as kafka_files
from infrastructure.kafka_folder.checkpoints import partition_metadata
from infrastructure.storage.files.loading import KINDS, cut_tails, recover, segments_of, swap_files
from infrastructure.storage.files.log_files import LogFiles
from infrastructure.storage.files.open_files import OpenFiles
from infrastructure.storage.files.removals import Removals, remove
from infrastructure.storage.files.rows import (
    COMPLETE,
    EMPTY,
    LogRow,
    Rewrite,
    key_of,
    partition_of,
    unpack,
)
from infrastructure.storage.files.segment import CLEANED, LOG, Damaged, Segment, name_of
from infrastructure.storage.lmdb.commit import UNREADABLE
from infrastructure.storage.lmdb.own_rows import OwnRows

#: Kafka's own, which belong to a segment as well.
_BESIDE = ".txnindex", ".snapshot"


#: Folders of snapshots, which no start needs.
SNAPSHOTS = "ottla.snapshot"
_UNNAMED = re.compile(r"partition\.([0-9a-f]{32})-stray")
_OF_A_LOG = re.compile(rf"[a-zA-Z0-9._-]+-\d+|{_UNNAMED.pattern}")
_LEFT_OVER = re.compile(rf"({_OF_A_LOG.pattern}|{SNAPSHOTS})\.[0-9a-f]{{32}}-stray")


class LogFolder:
    def __init__(self, root: Path, rows: OwnRows, files: OpenFiles, beside: bool) -> None:
        """`beside`: another process may write."""
        self._root = str(root)
        self.rows = rows
        self.files = files
        self._beside = beside
        self._logs: dict[int, LogFiles] = {}
        self.removals = Removals()
        #: Makes everything durable that is committed.
        self.keep: Callable[[], None] = lambda: None
        self._descriptor = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
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
        packed = self.rows.get(key_of(partition_id))
        if packed is None:
            self._logs.pop(partition_id, None)
            return None
        try:
            row = unpack(packed)
        except (StructError, ValueError) as damage:
            raise Damaged(f"the row of partition {partition_id} is damaged: {damage}") from damage
        if known is None or known.row != row:
            known = self._logs[partition_id] = self._load(partition_id, row)
        return known

    def new(self, partition_id: int) -> LogFiles:
        log = LogFiles(partition_id, self._unnamed(partition_id), EMPTY, [])
        self._logs[partition_id] = log
        return log

    def forget(self, partition_id: int) -> None:
        log = self._logs.pop(partition_id, None)
        if log is not None:
            self.files.forget_below(log.folder)

    def may_have_changed(self, error: Exception) -> bool:
        return self._beside and isinstance(error, FileNotFoundError)

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

    # ---- loading

    def _load(self, partition_id: int, row: LogRow) -> LogFiles:
        folder = self._settled(partition_id, row)
        log = LogFiles(partition_id, folder, row, [])
        if not self.files.read_only:
            if row.name is not None and not _has_topic_id(folder):
                self._write_topic_id(folder, row.name)
            recover(log)
            if any(one.from_position == COMPLETE for one in row.rewrites):
                self._forget_complete(log)
        log.change(segments_of(log, self.files))
        if not self.files.read_only:
            cut_tails(log.segments)
        return log

    def _settled(self, partition_id: int, row: LogRow) -> str:
        """The folder of a log, after it has its name."""
        unnamed = self._unnamed(partition_id)
        if row.name is None:
            return unnamed
        named = self._named(row.name)
        if not os.path.isdir(unnamed):
            return named
        if self.files.read_only:
            return unnamed
        self._move(unnamed, named)
        return named

    def _move(self, folder: str, to: str) -> None:
        if os.path.isdir(to):  # of a log that was never committed
            self.removals.rename(to, f"{to}.{uuid.uuid4().hex}-stray")
        self.removals.rename(folder, to)

    # ---- folders

    def _unnamed(self, partition_id: int) -> str:
        return f"{self._root}/partition.{partition_id:032x}-stray"

    def _named(self, name: LogName) -> str:
        return f"{self._root}/{name.topic}-{name.partition}"

    def make_folder(self, log: LogFiles) -> None:
        """Raises OSError."""
        if log.segments or os.path.isdir(log.folder):
            return
        os.mkdir(log.folder, 0o700)
        if log.row.name is not None:
            self._write_topic_id(log.folder, log.row.name)

    def _write_topic_id(self, folder: str, name: LogName) -> None:
        path = f"{folder}/{kafka_files.PARTITION_METADATA}"
        self.files.make(path, partition_metadata(name.topic_id))
        self.files.forget(path)

    def move_away(self, log: LogFiles) -> str:
        """Before the commit that takes its name; returns the folder that it had.

        Without a folder too: that of its name may soon be another log's.
        """
        folder = log.folder
        self._rename(log, self._unnamed(log.partition_id))
        return folder

    def move_back(self, log: LogFiles, folder: str) -> None:
        self._rename(log, folder)

    def _rename(self, log: LogFiles, to: str) -> None:
        self.files.forget_below(log.folder)
        if os.path.isdir(log.folder):
            self._move(log.folder, to)
        log.folder = to
        for segment in log.segments:
            segment.move(to)

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
        with suppress(OSError):
            name = log.row.name
            if name is not None and log.folder == self._unnamed(log.partition_id):
                self._rename(log, self._named(name))
                if os.path.isdir(log.folder):
                    self._write_topic_id(log.folder, name)
        for segment in removed:
            self._remove(segment)
        if swapped:
            with suppress(OSError, *UNREADABLE):
                self._swap(log, swapped)
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

    def has_file(self, log: LogFiles, one: Rewrite) -> bool:
        """Of a segment that was removed."""
        return os.path.exists(f"{log.folder}/{name_of(one.base_offset)}{LOG}")

    def unswapped(self, log: LogFiles) -> set[int]:
        rewrites = log.row.rewrites
        return {one.base_offset for one in rewrites if one.from_position == COMPLETE}

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
            segment.suffix = ""
            segment.forget_index()
        self._forget_complete(log)

    def _forget_complete(self, log: LogFiles) -> None:
        rewrites = tuple(one for one in log.row.rewrites if one.from_position != COMPLETE)
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
                if segment.entries is not None:
                    with suppress(OSError):
                        segment.write_entries()
        self.files.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _has_topic_id(folder: str) -> bool:
    """Or no folder."""
    path = f"{folder}/{kafka_files.PARTITION_METADATA}"
    try:
        return os.path.getsize(path) > 0
    except FileNotFoundError:
        return not os.path.isdir(folder)


def sync_file_system(descriptor: int) -> None:
    """Much faster than an fsync of each file. Raises OSError."""
    sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if sync is None:  # macOS
        os.sync()
    elif sync(descriptor):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
