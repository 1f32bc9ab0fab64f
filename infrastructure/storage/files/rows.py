"""What the store knows of each log, as a row that is written with every change of it.

A segment that is not the active one any more has a row of its own: files of other segments are not
part of the log, and a power cut with flush=os may leave less of them (power_cut.py).

The files may have more than this: what a commit has not reached is cut off or removed.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from application.ports.log_store import LogName

#: Of the keys, before the partition id.
PREFIX = b"log"
_ID = Struct(">I")
#: First and active segment, bytes of the active one, end offset; number of rewrites, topic id.
_FIXED = Struct(">QQQQI16s")
_REWRITE = Struct(">QQQQ")
_NO_TOPIC = bytes(16)


#: Of the keys of segments that get no more batches, before partition id and base offset.
SEGMENT_PREFIX = b"segment"
_SEGMENT_KEY = Struct(">IQ")
_FINISHED = Struct(">QQ")


class Finished(NamedTuple):
    """A segment that gets no more batches."""

    size_bytes: int
    end_offset: int

    def pack(self) -> bytes:
        return _FINISHED.pack(*self)

    @classmethod
    def unpack(cls, row: bytes) -> Finished:
        """Raises struct.error."""
        return cls(*_FINISHED.unpack(row))


class Rewrite(NamedTuple):
    """Compaction: `.cleaned` has the batches of a segment below an offset."""

    base_offset: int
    size_bytes: int
    from_offset: int
    #: In the file of the segment; COMPLETE: `.cleaned` takes its place.
    from_position: int

    @property
    def is_complete(self) -> bool:
        return self.from_position == COMPLETE


COMPLETE = (1 << 64) - 1


class LogRow(NamedTuple):
    first_base: int
    active_base: int
    active_bytes: int
    end_offset: int
    rewrites: tuple[Rewrite, ...]
    #: None: of a deleted topic, or of an import that is not complete.
    name: LogName | None

    @property
    def has_batches(self) -> bool:
        return self.active_bytes > 0

    def pack(self) -> bytes:
        name = self.name
        fixed = _FIXED.pack(*self[:4], len(self.rewrites), name.topic_id if name else _NO_TOPIC)
        text = f"{name.topic}-{name.partition}".encode() if name else b""
        return fixed + b"".join(_REWRITE.pack(*one) for one in self.rewrites) + text


EMPTY = LogRow(0, 0, 0, 0, (), None)


def unpack(row: bytes) -> LogRow:
    """Raises struct.error or ValueError."""
    first, active, size_bytes, end, count, topic_id = _FIXED.unpack_from(row)
    start = _FIXED.size + count * _REWRITE.size
    rewrites = tuple(Rewrite(*one) for one in _REWRITE.iter_unpack(row[_FIXED.size : start]))
    topic, _, index = row[start:].decode().rpartition("-")
    name = LogName(topic, int(index), topic_id) if topic else None
    return LogRow(first, active, size_bytes, end, rewrites, name)


def key_of(partition_id: int) -> bytes:
    return _ID.pack(partition_id)


def partition_of(key: bytes) -> int:
    return int(_ID.unpack_from(key)[0])


def segment_key(partition_id: int, base_offset: int) -> bytes:
    return _SEGMENT_KEY.pack(partition_id, base_offset)


def base_of(key: bytes) -> int:
    return int(_SEGMENT_KEY.unpack(key)[1])
