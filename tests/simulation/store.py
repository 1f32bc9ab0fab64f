"""The simulated store of one process over the disk; the seed decides over its commits.

A commit persists whole or not at all, at once or later. If the process dies in a commit, it is
persisted without a response (`torn`) or not persisted (`dropped`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from application.ports.log_store import (
    NOT_INDEXED,
    Buffer,
    IndexEntry,
    LogName,
    NotInMemory,
    Trimmed,
)
from application.ports.pending import Pending
from application.ports.state_store import RowChange
from domain.errors import StorageFailed
from domain.messages.batch import HEADER_BYTES, next_offset
from tests.simulation.disk import Append, Change, Disk, Drop, Log, Replace, Row, Trim
from tests.simulation.timeline import ProcessDied, ProcessLoop

Done = Callable[[StorageFailed | None], None]

READ = "read"
#: Calls that change a log.
CHANGES = ("copy_before", "replace", "trim", "drop")
UNREADABLE = "the disk could not be read"

#: Tables whose keys begin with a partition's id.
OF_PARTITIONS = ("partitions", "producers", "aborted")


class Fate:
    """The result of one commit."""

    __slots__ = ("delay_ms", "dies", "fails", "late_ms", "persists")

    def __init__(
        self, delay_ms: int = 0, fails: bool = False, dies: bool = False, persists: bool = True
    ) -> None:
        self.delay_ms = delay_ms
        self.fails = fails
        #: The process dies in the commit, which is persisted or not (`persists`).
        self.dies = dies
        self.persists = persists
        #: The broker learns it so much later than others: the response was lost.
        self.late_ms = 0


class Place(NamedTuple):
    """What has to be in memory for a call."""

    partition_id: int
    call: str
    offsets: tuple[int, ...]


class StoreControl(Protocol):
    """Decides over commits and reads, and is notified."""

    def fate(self, changes: list[Change]) -> Fate: ...

    def called(self) -> None:
        """Called before each staged change: the process may die here."""
        ...

    def snapshot_read(self) -> None: ...

    def reads_fail(self, partition_id: int) -> bool: ...

    def loading_ms(self, was_in_memory: bool) -> int:
        """Returns 0 if the data is in memory."""
        ...

    def loaded(self, place: Place) -> None:
        """Called before the call is repeated."""
        ...

    def persisted(self, changes: list[Change]) -> None: ...

    def failed(self, under_way: list[Change], behind: list[Change]) -> None: ...

    def died_in_commit(self, persisted: bool) -> None: ...


class SimulatedStore:
    """Log store, state store and commit of one process over the disk."""

    def __init__(self, disk: Disk, loop: ProcessLoop, control: StoreControl) -> None:
        self._disk = disk
        self._loop = loop
        self._control = control
        self.staged: list[Change] = []
        self.under_way: list[Change] | None = None
        #: The number of pending reads.
        self.loading = 0
        #: Of them those of calls that change a log.
        self.waiting: set[Place] = set()
        self._in_memory: set[Place] = set()

    @property
    def pending(self) -> list[Change]:
        """Of all commits that are not done, in order."""
        return (self.under_way or []) + self.staged

    # ---- LogStore

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        self._control.called()
        self.staged.append(Append(partition_id, last_offset, bytes(batch), indexed_timestamp))

    def name(self, partition_id: int, name: LogName | None) -> None:
        """The simulated disk has no names."""

    def copy_before(self, partition_id: int, offset: int) -> bool:
        self._ask(partition_id, "copy_before", offset)
        return True

    def read(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        self._check(partition_id)
        if partition_id in self._disk.logs:
            self._check_in_memory(Place(partition_id, READ, (offset,)))
        return self.read_disk(partition_id, offset, end_offset, max_bytes, whole_first)

    def read_to(
        self,
        partition_id: int,
        offset: int,
        end_offset: int,
        max_bytes: int,
        whole_first: bool,
        loads: bool = True,
    ) -> tuple[bytes, int]:
        limits = (partition_id, offset, end_offset, max_bytes, whole_first)
        if loads:
            records = self.read(*limits)
        else:
            self._check(partition_id)
            is_loaded = Place(partition_id, READ, (offset,)) in self._in_memory
            records = self.read_disk(*limits) if is_loaded else b""
        return records, next_offset(records) if records else offset

    def read_disk(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int, whole_first: bool
    ) -> bytes:
        """As another process reads."""
        log = self._disk.logs.get(partition_id, Log())
        found: list[bytes] = []
        size_bytes = 0
        for position in range(bisect_left(log.last_offsets, offset), len(log.batches)):
            batch = log.batches[position]
            size_bytes += len(batch)
            if log.last_offsets[position] >= end_offset or (
                size_bytes > max_bytes and (found or not whole_first)
            ):
                break
            found.append(batch)
        return b"".join(found)

    def _ask(self, partition_id: int, call: str, *offsets: int) -> None:
        """As an engine that reads what it changes, and its timestamp index, each time anew."""
        self._check(partition_id)
        place = Place(partition_id, call, offsets)
        if partition_id in self._disk.logs:
            self._check_in_memory(place)
            self._in_memory.discard(place)

    def _check_in_memory(self, place: Place) -> None:
        delay_ms = self._control.loading_ms(place in self._in_memory)
        if delay_ms:
            self._in_memory.discard(place)
            loading: Pending[None] = Pending()
            self.loading += 1
            if place.call in CHANGES:
                self.waiting.add(place)
            self._loop.after_ms(delay_ms, lambda: self._loaded(place, loading))
            raise NotInMemory(loading)

    def _loaded(self, place: Place, loading: Pending[None]) -> None:
        self.loading -= 1
        self._in_memory.add(place)
        self.waiting.discard(place)
        self._control.loaded(place)
        loading.resolve(None)

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        self._check(partition_id)
        log = self._disk.logs.get(partition_id)
        if log is None:
            return []
        if not waits:
            self._check_in_memory(Place(partition_id, READ, (offset,)))
        first = bisect_left(log.last_offsets, offset)
        return [batch[:HEADER_BYTES] for batch in log.batches[first : first + limit]]

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        self._ask(partition_id, "at_timestamp", timestamp)
        log = self._disk.logs.get(partition_id)
        before = [at for time, at in log.index.items() if time < timestamp] if log else []
        return max(before) + 1 if before else 0

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        self._ask(partition_id, "replace", first_offset, last_offset)
        self._control.called()
        staged = [bytes(batch) for batch in batches]
        change = Replace(partition_id, first_offset, last_offset, staged, list(indexed))
        log = self._staged_log(partition_id)
        replaced = log.batches[change.replaced(log)]
        self.staged.append(change)
        return sum(map(len, staged)) - sum(map(len, replaced))

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        self._ask(partition_id, "trim", offset)
        self._control.called()
        log = self._staged_log(partition_id)
        below = bisect_left(log.last_offsets, offset)
        count = min(below, max_batches)
        self.staged.append(Trim(partition_id, count, offset))
        return Trimmed(sum(map(len, log.batches[:count])), count == below)

    def _staged_log(self, partition_id: int) -> Log:
        """The log after all commits that are not done."""
        disk = Disk()
        stored = self._disk.logs.get(partition_id)
        if stored is not None:
            disk.logs[partition_id] = stored.copy()
        for change in self.pending:
            if not isinstance(change, Row) and change.partition_id == partition_id:
                change.apply(disk)
        return disk.logs.get(partition_id, Log())

    def drop(self, partition_id: int, max_batches: int) -> bool:
        self._ask(partition_id, "drop")
        left = len(self._staged_log(partition_id).batches)
        count = min(left, max_batches)
        self.staged.append(Drop(partition_id, count))
        return left == count

    def partition_ids(self) -> list[int]:
        return sorted(self._disk.logs)

    def _check(self, partition_id: int) -> None:
        if self._control.reads_fail(partition_id):
            raise StorageFailed(UNREADABLE)

    # ---- StateStore

    def get(self, table: str, key: bytes) -> bytes | None:
        if table in OF_PARTITIONS:
            self._check(int.from_bytes(key[:4], "big"))
        value = self._disk.tables.get(table, {}).get(key)
        if value is not None and table == "partitions":
            self._control.snapshot_read()
        return value

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        self._control.called()
        self.staged.append(Row(table, key, value))

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        for key, value in rows:
            self.put(table, key, value)

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        """Only this broker changes rows."""

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        if table in OF_PARTITIONS:
            self._check(int.from_bytes(first[:4], "big"))
        rows = sorted(self._disk.tables.get(table, {}).items())
        return [row for row in rows if row[0] >= first][:limit]

    # ---- Commit

    def commit(self, done: Done, waits: bool = False) -> None:
        assert self.under_way is None, "a second commit before the first was done"
        changes, self.staged = self.staged, []
        self.under_way = changes
        fate = self._control.fate(changes)
        if fate.delay_ms:
            self._loop.after_ms(fate.delay_ms, lambda: self._finish(fate, done))
        else:
            self._finish(fate, done)

    def _finish(self, fate: Fate, done: Done) -> None:
        changes = self.under_way
        assert changes is not None
        self.under_way = None
        if fate.dies:
            if fate.persists:
                self._tear(changes)
            else:
                self._drop(changes)
            self._control.died_in_commit(fate.persists)
            raise ProcessDied
        if fate.fails:
            behind, self.staged = self.staged, []
            self._refuse(changes, behind)
            self._control.failed(changes, behind)
            done(StorageFailed("the disk is full"))
            return
        self._persist(changes)
        if fate.late_ms:
            self.under_way = []
            self._loop.after_ms(fate.late_ms, lambda: self._answer(done))
        else:
            done(None)

    def _answer(self, done: Done) -> None:
        self.under_way = None
        done(None)

    def _tear(self, changes: list[Change]) -> None:
        self._persist(changes)

    def _drop(self, changes: list[Change]) -> None:
        """The process dies before they are committed."""

    def _refuse(self, changes: list[Change], behind: list[Change]) -> None:
        """The commit fails; `behind`: changes that were staged meanwhile fail with it."""

    def _persist(self, changes: list[Change]) -> None:
        self._disk.commits += 1
        for change in changes:
            change.apply(self._disk)
        self._control.persisted(changes)

    def close(self) -> None:
        self.staged.clear()

    def check(self) -> None:
        """What is stored, as another process would find it."""

    def die(self) -> None:
        """With its process."""
