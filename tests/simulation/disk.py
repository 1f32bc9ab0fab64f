"""The disk that survives processes: what is committed, and the changes that commits make of it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from application.ports.log_store import IndexEntry
from domain.messages.batch import last_offset_of


class Log:
    """One partition's batches, with their last offsets, and its timestamp index."""

    __slots__ = ("batches", "index", "last_offsets")

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.last_offsets: list[int] = []
        self.index: dict[int, int] = {}

    def copy(self) -> Log:
        other = Log()
        other.batches, other.last_offsets = self.batches.copy(), self.last_offsets.copy()
        other.index = self.index.copy()
        return other


@dataclass(slots=True)
class Append:
    partition_id: int
    last_offset: int
    batch: bytes
    indexed_timestamp: int
    begins_segment: bool = False

    def apply(self, disk: Disk) -> None:
        log = disk.logs.setdefault(self.partition_id, Log())
        log.batches.append(self.batch)
        log.last_offsets.append(self.last_offset)
        if self.indexed_timestamp >= 0:
            log.index[self.indexed_timestamp] = self.last_offset


class Drop:
    __slots__ = ("count", "partition_id")

    def __init__(self, partition_id: int, count: int) -> None:
        self.partition_id = partition_id
        self.count = count

    def apply(self, disk: Disk) -> None:
        log = disk.logs.get(self.partition_id)
        if log is not None:
            del log.batches[: self.count]
            del log.last_offsets[: self.count]
            if not log.batches:
                del disk.logs[self.partition_id]


class Trim(Drop):
    """Removes batches below an offset of a live partition."""

    __slots__ = ("offset",)

    def __init__(self, partition_id: int, count: int, offset: int) -> None:
        super().__init__(partition_id, count)
        self.offset = offset

    def apply(self, disk: Disk) -> None:
        log = disk.logs.get(self.partition_id)
        disk.starts[self.partition_id] = max(self.offset, disk.starts.get(self.partition_id, 0))
        if log is not None:
            log.index = {time: at for time, at in log.index.items() if at >= self.offset}
        super().apply(disk)


@dataclass(slots=True)
class Replace:
    """Replaces the batches that end within two offsets."""

    partition_id: int
    first_offset: int
    last_offset: int
    batches: list[bytes]
    indexed: list[IndexEntry]

    def replaced(self, log: Log) -> slice:
        first = bisect_left(log.last_offsets, self.first_offset)
        return slice(first, bisect_left(log.last_offsets, self.last_offset + 1))

    def apply(self, disk: Disk) -> None:
        log = disk.logs.get(self.partition_id)
        if log is None:
            return
        replaced = self.replaced(log)
        log.batches[replaced] = self.batches
        log.last_offsets[replaced] = map(last_offset_of, self.batches)
        before = max((time for time, at in log.index.items() if at < self.first_offset), default=0)
        left = {
            time: at
            for time, at in log.index.items()
            if not self.first_offset <= at <= self.last_offset
        }
        indexed = {max(time, before): at for time, at in self.indexed}
        log.index = left | indexed | {t: at for t, at in left.items() if at > self.last_offset}


class Row:
    __slots__ = ("key", "table", "value")

    def __init__(self, table: str, key: bytes, value: bytes | None) -> None:
        self.table = table
        self.key = key
        self.value = value

    def apply(self, disk: Disk) -> None:
        rows = disk.tables.setdefault(self.table, {})
        if self.value is None:
            rows.pop(self.key, None)
        else:
            rows[self.key] = self.value


Change = Append | Replace | Drop | Row


class Disk:
    """The committed data; each persisted commit has a number."""

    def __init__(self) -> None:
        self.logs: dict[int, Log] = {}
        self.tables: dict[str, dict[bytes, bytes]] = {}
        #: Below them batches may be gone.
        self.starts: dict[int, int] = {}
        self.commits = 0
