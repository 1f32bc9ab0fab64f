"""In the broker's process: named moments; the broker dies at the nth passage of one of them.

The product has no hooks for this. Before `ottla serve` begins, the container's store is wrapped and
a few methods are replaced.
"""

from __future__ import annotations

import os
import signal
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, cast

from application.broker import Broker
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.markers import TransactionMarkers
from application.partitions.retention import RetentionService
from application.ports.commit import Commit
from application.ports.log_store import NOT_INDEXED, Buffer, IndexEntry, LogStore, Trimmed
from application.ports.state_store import RowChange, StateStore
from application.transactions.ends import TransactionEnds
from domain.errors import StorageFailed
from domain.partitions.partition import Partition
from domain.transactions.transaction import Transaction
from infrastructure.opening import open_storage
from infrastructure.storage.engine import Joining, Storage, ToLoop
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb import environment
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.recovery_point import PinnedRoot, RecoveryPoint
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from interfaces.connections.limits import ResponseFlusher
from interfaces.kafka.connections.shared import Shared
from interfaces.main.container.app import App


class Passages:
    """Counts one name. `moment_us`: delay after the passage, for moments within a call."""

    def __init__(self, point: str | None, number: int = 1, moment_us: int = 0) -> None:
        self.point, self.left, self.moment_us = point, number, moment_us
        #: Entries staged by the current pass, in order.
        self.staged: list[str] = []
        #: The store is being closed.
        self.is_stopping = False

    def at(self, name: str) -> None:
        if self.reached(name):
            os.kill(os.getpid(), signal.SIGKILL)

    def reached(self, name: str) -> bool:
        if name != self.point:
            return False
        self.left -= 1
        return self.left == 0

    def soon(self, name: str) -> None:
        """Kills the process a little later, wherever it is: an unhandled timer signal."""
        if self.reached(name):
            signal.setitimer(signal.ITIMER_REAL, max(self.moment_us, 1) / 1e6)

    def stage(self, kind: str) -> None:
        self.at(f"{kind}: staged, first" if kind not in self.staged else f"{kind}: staged, again")
        self.staged.append(kind)

    def each_of(self, kinds: Sequence[str], moment: str) -> None:
        for kind in dict.fromkeys(kinds):
            self.at(f"{kind}: {moment}")

    def around(self, owner: type, method: str, before: str, after: str) -> None:
        inner = getattr(owner, method)

        @wraps(inner)
        def outer(*arguments: Any, **named: Any) -> Any:
            self.at(before)
            result = inner(*arguments, **named)
            self.at(after)
            return result

        setattr(owner, method, outer)


class PassedLog:
    def __init__(self, inner: LogStore, passages: Passages) -> None:
        self._inner, self._passages = inner, passages
        self.read, self.read_to = inner.read, inner.read_to
        self.at_timestamp = inner.at_timestamp
        self.partition_ids = inner.partition_ids
        self.name, self.copy_before = inner.name, inner.copy_before

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        self._inner.append(partition_id, last_offset, batch, indexed_timestamp, begins_segment)
        self._passages.stage("batch")

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        headers = self._inner.headers(partition_id, offset, limit, waits)
        self._passages.at("recovery: headers read, not replayed")
        return headers

    def replace(
        self,
        partition_id: int,
        first_offset: int,
        last_offset: int,
        batches: Sequence[Buffer],
        indexed: Sequence[IndexEntry],
    ) -> int:
        grown = self._inner.replace(partition_id, first_offset, last_offset, batches, indexed)
        self._passages.stage("compaction")
        return grown

    def trim(self, partition_id: int, offset: int, max_batches: int) -> Trimmed:
        trimmed = self._inner.trim(partition_id, offset, max_batches)
        self._passages.stage("last trimmed slice" if trimmed.done else "trimmed slice")
        return trimmed

    def drop(self, partition_id: int, max_batches: int) -> bool:
        empty = self._inner.drop(partition_id, max_batches)
        self._passages.stage("last slice" if empty else "slice")
        return empty


class PassedState:
    """Names the kind of a row."""

    def __init__(self, inner: StateStore, passages: Passages) -> None:
        self._inner, self._passages = inner, passages
        self.get = inner.get

    def put(self, table: str, key: bytes, value: bytes | None) -> None:
        kind = self._kind(table, key, value)
        self._inner.put(table, key, value)
        self._passages.stage(kind)

    def put_all(self, table: str, rows: Sequence[RowChange]) -> None:
        kinds = [self._kind(table, key, value) for key, value in rows]
        self._inner.put_all(table, rows)
        for kind in kinds:
            self._passages.stage(kind)

    def _kind(self, table: str, key: bytes, value: bytes | None) -> str:
        if table == "topics":
            if value is None:
                return "deletion"
            return "topic" if self._inner.get(table, key) is None else "growth"
        there = "" if value is not None else ", removed"
        return {
            "trimming": "trimming" + there,
            "partitions": "snapshot" + there,
            "producers": "producer" + there,
            "doomed": "doomed partition" + there,
            "counters": "partition ids",
            "cluster": "cluster id" if key == b"id" else "producer ids",
        }.get(table, table)

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        self._inner.follow(table, changed)

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        rows = self._inner.scan(table, first, limit)
        self._passages.at(f"start: {table} read")
        return rows


class PassedCommit:
    def __init__(self, inner: Commit, passages: Passages) -> None:
        self._inner, self._passages = inner, passages

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        passages = self._passages
        # During the commit the next pass may be staged.
        kinds, passages.staged = passages.staged, []
        passages.each_of(kinds, "before the commit")
        passages.soon("within a commit")

        def committed(failure: StorageFailed | None) -> None:
            if failure is None:
                passages.each_of(kinds, "committed, no response sent")
            else:
                passages.at("a commit has failed, no response sent")
            done(failure)

        self._inner.commit(committed, waits)

    def close(self) -> None:
        self._passages.at("stop: before the store is closed")
        self._passages.is_stopping = True
        self._inner.close()
        self._passages.at("stop: the store is closed")


def wrapped_opening(
    passages: Passages, map_size_bytes: int | None
) -> Callable[[str, Flush, ToLoop, Joining], Storage]:
    def opened(url: str, flush: Flush, to_loop: ToLoop, joining: Joining) -> Storage:
        # Of files: reads wait for the disk.
        shared: dict[str, Any] = {}
        if url.startswith("postgresql:"):
            shared = {"to_loop": to_loop, "joining": joining}
        storage = open_storage(url, flush, map_size_bytes, **shared)
        return Storage(
            cast(LogStore, PassedLog(storage.log, passages)),
            PassedState(storage.state, passages),
            PassedCommit(storage.commit, passages),
            storage.info,
            storage.start_flush,
            waits_for=storage.waits_for,
            send_on_loop=storage.send_on_loop,
            membership=storage.membership,
            cluster_changes=storage.cluster_changes,
        )

    return opened


def name_the_rest(passages: Passages) -> None:
    around = passages.around
    around(LmdbEnvironment, "_open", "start: before the store is opened", "start: store opened")
    around(LmdbEnvironment, "_make", "first start: empty folder", "first start: store renamed")
    around(LmdbEnvironment, "grow", "the map is full", "the map has grown")
    around(App, "start_upkeep", "start: listening, not yet ready", "start: upkeep begins")
    around(RetentionService, "_move", "retention: log start not moved", "retention: moved")
    around(Broker, "snapshot_all", "stop: drained", "stop: last snapshots staged")
    around(TransactionEnds, "_end", "end: prepared, no marker", "")
    around(TransactionalOffsets, "complete", "", "end: offsets staged, no marker")
    around(TransactionMarkers, "write", "", "end: a marker staged, not completed")
    _name_recovery(passages)
    _name_the_middle_of_making_a_store(passages)
    _name_the_fsyncs(passages)
    _name_the_recovery_point(passages)
    _name_the_drain(passages)
    _name_the_responses(passages)


def name_the_database(passages: Passages) -> None:
    """Only where it is used: it takes long to import."""
    from infrastructure.storage.sql.offset_database import OffsetDatabase

    before, after = "sqlite: before it is written", "sqlite: written, no response sent"
    passages.around(OffsetDatabase, "write", before, after)
    passages.around(OffsetDatabase, "disconnect", "", "stop: the database is closed")
    write = OffsetDatabase.write

    def named(self: OffsetDatabase, changes: Any, through: int | None) -> None:
        passages.soon("sqlite: within a commit")
        write(self, changes, through)

    OffsetDatabase.write = named  # type: ignore[method-assign]


def end_in_two_commits() -> None:
    """As with a partition that is not in memory."""

    def prepare(self: TransactionEnds, prepared: Transaction) -> Transaction:
        self._registry.put(prepared)
        self._end_later(prepared.transactional_id)
        return prepared

    TransactionEnds.end = prepare  # type: ignore[method-assign]


def _name_recovery(passages: Passages) -> None:
    recover = StoredPartitionRepository.recover

    def named(self: StoredPartitionRepository, partition: Partition, waits: bool = True) -> None:
        what = "recovery" if partition.broken is None else "reload"
        passages.at(f"{what}: begins")
        recover(self, partition, waits)
        passages.at(f"{what}: done")

    StoredPartitionRepository.recover = named  # type: ignore[method-assign]


def _name_the_middle_of_making_a_store(passages: Passages) -> None:
    create = LmdbEnvironment._create

    def named(self: LmdbEnvironment, env: Any) -> None:
        create(self, env)
        passages.at("first start: store created, not renamed")

    LmdbEnvironment._create = named  # type: ignore[method-assign]

    class Ids:
        """The id is the last thing that is put into a new store."""

        @staticmethod
        def uuid4() -> Any:
            passages.at("first start: tables created, no id yet")
            return uuid.uuid4()

    environment.uuid = Ids  # type: ignore[assignment, attr-defined]


def _name_the_fsyncs(passages: Passages) -> None:
    sync = LmdbEnvironment.sync

    def named(self: LmdbEnvironment) -> None:
        context = "stop" if passages.is_stopping else "start"
        if threading.current_thread().name == "ottla-flush":
            context = "flush"
        passages.at(f"{context}: before the fsync")
        sync(self)
        passages.at(f"{context}: after the fsync")

    LmdbEnvironment.sync = named  # type: ignore[method-assign]


def _name_the_recovery_point(passages: Passages) -> None:
    around = passages.around
    around(RecoveryPoint, "keep_nothing", "start: root not removed", "start: root removed")
    around(RecoveryPoint, "keep_anew", "map has grown, root not saved", "map has grown, root saved")
    around(RecoveryPoint, "forget", "stop: synced, root not removed", "stop: synced, root removed")
    persist = RecoveryPoint.persist

    def named(self: RecoveryPoint, pinned: PinnedRoot) -> None:
        flushing = threading.current_thread().name == "ottla-flush"
        context = "flush" if flushing else "start"
        passages.at(f"{context}: root synced, not saved")
        persist(self, pinned)
        passages.at(f"{context}: root saved")

    RecoveryPoint.persist = named  # type: ignore[method-assign]


def _name_the_drain(passages: Passages) -> None:
    drain = Shared.drain

    async def named(self: Shared, timeout_seconds: float) -> bool:
        passages.at("stop: no new connections")
        return await drain(self, timeout_seconds)

    Shared.drain = named  # type: ignore[method-assign]


def _name_the_responses(passages: Passages) -> None:
    """Bytes leave the process with the next pass of the loop: only one sender is flushed."""
    flush = ResponseFlusher.flush
    some, all_of_them = "the first of several responses is sent", "all responses of a pass are sent"

    def named(self: ResponseFlusher) -> None:
        if passages.point == some and passages.left <= 0:
            return
        if len(self._senders) > 1 and passages.reached(some):
            first = next(iter(self._senders))
            self._senders.clear()
            first.flush()
            self._scheduler.after_ms(1, lambda: os.kill(os.getpid(), signal.SIGKILL))
            return
        has_responses = bool(self._senders)
        flush(self)
        if has_responses and passages.reached(all_of_them):
            self._scheduler.after_ms(0, lambda: os.kill(os.getpid(), signal.SIGKILL))

    ResponseFlusher.flush = named  # type: ignore[method-assign]
