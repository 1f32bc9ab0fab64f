"""Contents: what this process knows of the store: what is staged, the rows of its scopes, where its
logs end, and the batches of late.

A broker has the rows that all share, and those of the partitions that it leads, by the rows of
the table `leaders`. It gains and loses partitions with changes of these rows, its own and those of
other brokers; what it has gained is read before the rows are changed here. A process without a
node id, which has the store alone, has everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import methodcaller
from threading import Lock

from application.state.notifying import notify_each
from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.postgresql import loading, shared_rows
from infrastructure.storage.postgresql.cache import CachedEntry, LogCache
from infrastructure.storage.postgresql.marker_rows import MarkerRows, MarkersRead
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.runs import ABOVE_ALL_OFFSETS, LogRuns, Runs
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.shared_rows import Gained, KnownRows, Row, SharedRows
from infrastructure.storage.postgresql.staged import Staged
from infrastructure.storage.postgresql.tails import TAIL_BYTES, TailRow, Tails, tail_rows
from infrastructure.storage.postgresql.timeline import NOT_KNOWN
from infrastructure.storage.repositories.internal_slots import InternalSlots
from infrastructure.storage.repositories.leader_rows import LEADERS, leader_of, partition_id_of
from infrastructure.storage.repositories.scopes import (
    MARKERS,
    OF_PARTITIONS,
    OF_SLOTS,
    is_shared,
    scope_of,
)
from infrastructure.storage.repositories.topic_repository import TOPICS

#: Of batches.
CACHE_BYTES = 128 << 20

NOTHING_GAINED = Gained(frozenset(), [], {}, {}, [])

Followers = dict[str, list[Callable[[Sequence[bytes]], None]]]


class Contents:
    def __init__(self, node_id: int | None = None, tail_bytes: int = TAIL_BYTES) -> None:
        """None: everything."""
        self._node_id = node_id
        self._rows = MemoryStore()
        #: Rows and their version; the loop changes them.
        self._changing = Lock()
        #: Reads of rows: they are in memory.
        self.state = MemoryStateStore(self._rows)
        self.cache = LogCache(CACHE_BYTES)
        #: Changed with each commit, by the thread or the loop, and with what this broker leads.
        self.runs = Runs()
        #: Of the change under way, until its outcome is known here. From any thread.
        self.under_way: Plan | None = None
        self.tails = Tails(self.runs, tail_bytes)
        #: Of each log that has a batch: the offset after the last one.
        self.ends: dict[int, int] = {}
        self._changes: dict[int, int] = {}
        #: Of the shared rows.
        self.version = 0
        #: Of the connection that has the right to change them.
        self.timeline = NOT_KNOWN
        self._led: set[int] = set()
        #: Those of them that it led before its start, until it has changed their rows.
        self._unconfirmed: set[int] = set()
        #: How often partitions of it went to others. From any thread.
        self.losses = 0
        self._slots = InternalSlots()
        self._markers = MarkerRows()
        self.read_markers = self._markers.read
        self._followers: Followers = defaultdict(list)
        self.staged = Staged()
        #: Changes of shared rows are under way.
        self._is_changing = False
        #: Lets the thread that reads changes of others read them again.
        self.read_again: Callable[[], None] = lambda: None
        self.read_markers_again: Callable[[], None] = lambda: None

    # ---- start

    def load(self, connection: Rows, writer_id: int) -> None:
        """Raises StorageDamaged or psycopg.Error."""
        self.tails.load(connection, writer_id)
        if self._node_id is None:
            self._put(shared_rows.everything(connection))
            runs = loading.all_runs(connection)
            for partition_id, of_log in runs.items():
                self.runs.put(partition_id, of_log)
            tails = tail_rows(connection, _tails_of(runs))
            self._check_tails(runs, tails)
            self.ends = loading.ends_of(connection, runs, tails)
            [(self.version,)] = connection.execute("select version from ottla_store").fetchall()
        else:
            found = shared_rows.shared(connection)
            gained = self.gained(connection, found.rows)
            self._check_tails(gained.runs, gained.tails)
            self.take_over(found, gained)
            self._unconfirmed = self._led.copy()
            self.take_markers(self.read_markers(connection))
        self.staged = Staged(self.version, self.timeline)

    @property
    def has_begun(self) -> bool:
        """Others cannot take over any more what it led before its start.

        They may while they see it fenced. It raises the leader epochs when they do not, in commits
        that fail if others have changed anything meanwhile.
        """
        return not self._unconfirmed

    def _check_tails(self, runs: Mapping[int, LogRuns], found: Collection[TailRow]) -> None:
        """Of a backup that has not all of them. Raises StorageDamaged."""
        for number in _tails_of(runs) - {number for number, *_ in found}:
            raise StorageDamaged(f"ottla_tails has no row of ottla_tail_{number}")
        self.tails.add_known(found)

    def gained(self, connection: Rows, rows: Iterable[Row], by_others: bool = False) -> Gained:
        """What this broker has to know of partitions that it leads by these rows. From any thread.

        Raises psycopg.Error. `by_others`: they have changed the rows.
        """
        rows = list(rows)
        slots = self._slots.copy()
        for row in rows:
            _learn(slots, row.table, row.key, row.value)
        partition_ids = frozenset(
            partition_id_of(row.key)
            for row in rows
            if row.table == LEADERS and row.value and leader_of(row.value) == self._node_id
        )
        known = self._led.copy()
        if by_others:  # they may have led these meanwhile
            known -= self._unconfirmed.copy()
        partition_ids -= known
        if not partition_ids:
            return NOTHING_GAINED
        runs = loading.runs_of(connection, partition_ids)
        tails = tail_rows(connection, _tails_of(runs))
        return Gained(
            partition_ids,
            shared_rows.of_partitions(connection, partition_ids, slots),
            runs,
            loading.ends_of(connection, runs, tails),
            tails,
            self.read_markers(connection),
        )

    def known_rows(self) -> KnownRows:
        """From any thread."""
        with self._changing:
            values = {
                (table, key): value
                for table in self.state.tables()
                if is_shared(table)
                for key, value in self.state.scan(table)
            }
            return KnownRows(self.version, values)

    def go_back(self, connection: Rows, writer_id: int) -> dict[int, int]:
        """Runs and tails are those of a database that has lost commits; returns where its logs end.

        For the thread that writes. Raises StorageDamaged or psycopg.Error.
        """
        led = self._led.copy()
        if self._node_id is None:
            runs = loading.all_runs(connection)
        else:
            runs = loading.runs_of(connection, led)
        tails = tail_rows(connection, _tails_of(runs))
        self.tails.reload(connection, writer_id, tails)
        for partition_id in {*self.runs.partition_ids(), *runs}:
            # The loop may have lost or gained some meanwhile.
            if self._node_id is None or partition_id in led & self._led:
                self.runs.put(partition_id, runs.get(partition_id, ()))
        return loading.ends_of(connection, runs, tails)

    # ---- changes of other brokers

    def follow(self, table: str, changed: Callable[[Sequence[bytes]], None]) -> None:
        self._followers[table].append(changed)

    def take_over(self, changes: SharedRows, gained: Gained) -> None:
        """Rows that other brokers have changed since the version that is known here.

        Otherwise they are read again: what was read may be older than a change of this broker, and
        a change that is staged was decided on the version before.
        """
        if self.changes_shared:
            return  # read again after its outcome
        if changes.since != self.version:
            self.read_again()
            return
        leaders = [(row.key, row.value) for row in changes.rows if row.table == LEADERS]
        self._change_leaders(leaders, by_others=True)
        self._put(changes.rows, changes.version)
        self.staged.version = changes.version
        self._gain(gained)
        by_table: dict[str, list[bytes]] = defaultdict(list)
        for row in changes.rows:
            by_table[row.table].append(row.key)
        self._notify(by_table)

    def _notify(self, by_table: Mapping[str, Sequence[bytes]]) -> None:
        # Topics first: leaders are those of their partitions.
        tables = sorted(by_table, key=lambda table: (table != TOPICS, table))
        faults: list[Exception] = []
        for table in tables:
            keys = by_table[table]
            faults += notify_each(self._followers[table], methodcaller("__call__", keys))
        if faults:
            raise faults[0]

    def take_markers(self, found: MarkersRead) -> None:
        changes = self._markers.changes(found, self.state.scan(MARKERS))
        if changes:
            self._put(Row(MARKERS, key, value) for key, value in changes)
            self._notify({MARKERS: [key for key, _ in changes]})

    # ---- changes of this broker

    def end_pass(self) -> Staged:
        staged, self.staged = self.staged, Staged(self.version, self.timeline)
        staged.end()
        self._is_changing = staged.changes_shared_rows
        if self._is_changing:
            self.staged.version += 1
        return staged

    @property
    def changes_shared(self) -> bool:
        """Changes of shared rows are staged, or under way."""
        return self._is_changing or self.staged.changes_shared_rows

    def may_change(self, timeline: int) -> None:
        """This broker has the right to change shared rows."""
        self.timeline = timeline
        if not self.staged.changes_shared_rows:
            self.staged.timeline = timeline

    def failed(self) -> None:
        """What was staged meanwhile follows what is not there."""
        self.staged = Staged(self.version, self.timeline)
        self._changed()
        self.read_markers_again()

    def committed(self, staged: Staged, gained: Gained) -> None:
        version = staged.version + 1 if staged.changes_shared_rows else None
        self._put((Row(*key, value) for key, value in staged.rows.items()), version)
        for one in staged.rewritten:
            self._changed_log(one.partition_id, one.first_offset, one.last_offset)
        for partition_id, last in staged.trimmed.items():
            self._changed_log(partition_id, 0, last)
        staged.shorten(self.ends)
        for entry in staged.added:
            start = self.ends.get(entry.partition_id, 0)
            self.cache.add(
                entry.partition_id, CachedEntry(start, entry.last_offset, entry.data, entry.times)
            )
            self.ends[entry.partition_id] = entry.last_offset + 1
        markers = staged.of_table(MARKERS)
        if markers and self._node_id is not None:
            self._markers.committed(markers)
            self.read_markers_again()
        leaders = staged.of_table(LEADERS)
        self._change_leaders(leaders)
        self._unconfirmed.difference_update(partition_id_of(key) for key, _ in leaders)
        self._gain(gained)
        self._changed()

    def planned(self, plan: Plan, written_bytes: int) -> None:
        """What is persisted of runs and tails. For what has committed it."""
        for partition_id, runs in plan.new_runs.items():
            self.runs.put(partition_id, runs)
        self.tails.add(written_bytes)
        if plan.dead or plan.new_runs:
            self.tails.changed(plan.dead)

    def may_have_moved(self, partition_id: int, runs: LogRuns) -> bool:
        """Entries that were looked for by these runs. From any thread."""
        under_way = self.under_way  # first: it ends when its runs are known
        is_changing = under_way is not None and partition_id in under_way.new_runs
        return is_changing or self.runs.of(partition_id) != runs

    def _changed(self) -> None:
        if self._is_changing:
            self._is_changing = False
            self.read_again()

    def changes_of(self, partition_id: int) -> int:
        """How often entries of a log were removed or replaced, or the log was gained or lost."""
        return self._changes.get(partition_id, 0)

    def _changed_log(self, partition_id: int, first_offset: int, last_offset: int) -> None:
        self._changes[partition_id] = self.changes_of(partition_id) + 1
        self.cache.remove(partition_id, first_offset, last_offset)

    # ---- scopes

    def _put(self, rows: Iterable[Row], version: int | None = None) -> None:
        """`version`: of the shared rows, if some are among these."""
        with self._changing:
            for row in rows:
                _learn(self._slots, row.table, row.key, row.value)
                self.state.put(row.table, row.key, row.value)
            self._rows.keep()
            if version is not None:
                self.version = version

    def _gain(self, gained: Gained) -> None:
        new = gained.partition_ids - self._led
        if new:
            self._put(gained.rows)
            self._led |= new
            for partition_id in new:
                self._forget_log(partition_id)
                if partition_id in gained.ends:
                    # First: the thread that writes may move what has runs, up to the end.
                    self.ends[partition_id] = gained.ends[partition_id]
                    self.runs.put(partition_id, gained.runs[partition_id])
            self.tails.add_known(gained.tails)
            self.take_markers(gained.markers)

    def lost_by(self, rows: Iterable[tuple[bytes, bytes | None]]) -> set[int]:
        """Partitions that this broker leads until leaders are these. From any thread."""
        return {
            partition_id
            for partition_id, leader in (
                (partition_id_of(key), value and leader_of(value)) for key, value in rows
            )
            if partition_id in self._led and leader != self._node_id
        }

    def _change_leaders(
        self, rows: Collection[tuple[bytes, bytes | None]], by_others: bool = False
    ) -> None:
        lost = self.lost_by(rows)
        self._unconfirmed -= lost
        if by_others:  # they may be back: what is known of them may be older
            lost |= self._unconfirmed.intersection(partition_id_of(key) for key, _ in rows)
        if lost:
            self.losses += 1
            self._led -= lost
            for partition_id in lost:
                self._forget_log(partition_id)
            self._put(Row(table, key, None) for table, key in self._rows_of(lost))

    def _forget_log(self, partition_id: int) -> None:
        self._changed_log(partition_id, 0, ABOVE_ALL_OFFSETS)
        self.runs.put(partition_id, ())
        self.ends.pop(partition_id, None)

    def _rows_of(self, partition_ids: Collection[int]) -> list[tuple[str, bytes]]:
        """In memory; of one partition, the work of all."""
        return [
            (table, key)
            for table in (*OF_PARTITIONS, *OF_SLOTS)
            for key, value in self.state.scan(table)
            if self._partition_of(Row(table, key, value)) in partition_ids
        ]

    def _partition_of(self, row: Row) -> int | None:
        assert row.value is not None
        return self._slots.partition_id(scope_of(row.table, row.key, row.value))


def _tails_of(runs: Mapping[int, LogRuns]) -> set[int]:
    return {run.tail for of_log in runs.values() for run in of_log}


def _learn(slots: InternalSlots, table: str, key: bytes, value: bytes | None) -> None:
    if table == TOPICS:
        slots.put(key, value)
