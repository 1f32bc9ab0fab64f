"""Run: the batches that one file gets in a pass, behind its committed end."""

from __future__ import annotations

import os
from contextlib import suppress

from application.ports.log_store import Buffer
from infrastructure.storage.files.headers import Header
from infrastructure.storage.files.open_files import OpenFiles
from infrastructure.storage.files.segment import MAX_TIMESTAMP, UNWRITTEN_BYTES, Segment
from infrastructure.storage.lmdb.commit import UNREADABLE

#: Larger batches are written at once: copying them twice costs more than a call of the system.
_SMALL_BATCH_BYTES = 32 << 10
_PENDING_BYTES = 256 << 10
_PENDING_BATCHES = 512

#: Size, last offset and largest timestamp of a batch.
Facts = tuple[int, int, int]


class Run:
    """Batches that one file gets in this pass."""

    __slots__ = ("_files", "_pending", "_pending_bytes", "batches", "position", "segment")

    def __init__(self, segment: Segment, files: OpenFiles) -> None:
        self._files = files
        self.segment = segment
        #: Where the next batch goes.
        self.position = segment.size_bytes
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.batches: list[Facts] = []

    def add(self, last_offset: int, batch: Buffer) -> None:
        size_bytes = len(batch)
        (timestamp,) = MAX_TIMESTAMP.unpack_from(batch)
        self.batches.append((size_bytes, last_offset, timestamp))
        if size_bytes > _SMALL_BATCH_BYTES:
            self._write_at_once(batch)
            return
        self.position += size_bytes
        self._pending.append(bytes(batch))
        self._pending_bytes += size_bytes
        if self._pending_bytes >= _PENDING_BYTES or len(self._pending) >= _PENDING_BATCHES:
            self.write()

    def copy(self, data: bytes, headers: list[Header]) -> None:
        self.batches += [(one.size_bytes, one.last_offset, one.max_timestamp) for one in headers]
        self._write_at_once(data)

    def _write_at_once(self, data: Buffer) -> None:
        self.write()
        self._files.write(self.segment.path, [data], self.position, len(data))
        self.position += len(data)

    def write(self) -> None:
        """Raises OSError."""
        if self._pending:
            pending, size_bytes = self._pending, self._pending_bytes
            self._pending, self._pending_bytes = [], 0
            path = self.segment.path
            self._files.write(path, pending, self.position - size_bytes, size_bytes)

    def cut(self) -> None:
        """What an earlier pass wrote and could not cut off, now that the size of the file counts.

        Raises OSError.
        """
        descriptor = self._files.descriptor(self.segment.path)
        if os.fstat(descriptor).st_size > self.position:
            os.ftruncate(descriptor, self.position)

    def committed(self) -> None:
        segment = self.segment
        # Without its entries an index is found to lag, and goes on, at its next use.
        with suppress(OSError, *UNREADABLE):
            segment.begin_appends()
        for facts in self.batches:
            segment.appended(*facts)
        with suppress(OSError, *UNREADABLE):
            segment.write_entries(at_least_bytes=UNWRITTEN_BYTES)
