"""Failures of a world: of each kind some worlds have many, others none."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.simulation.disk import Append, Change, Drop, Replace, Row, Trim
from tests.simulation.network import Line
from tests.simulation.situations import Situation
from tests.simulation.store import Fate, Place
from tests.simulation.timeline import ProcessDied

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

#: When the failures end.
FAULTS_MS = 800
DAY_MS = 86_400_000


class Mishaps:
    """Fails processes, connections, and commits and reads of the store."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._random = random = world.random
        self._timeline = world.timeline
        self.active = True
        self._fails = random.choice((0.0, 0.05, 0.3))
        self._delays = random.choice((0.0, 0.3, 0.9))
        self._longest_ms = random.choice((5, 40, 40, 300, 300, 1200))
        self._is_slow = False
        self._dies_in_commit = False
        self._calls_to_live = -1
        self._unreadable_until_ms = -1
        #: The unreadable partition; None: all.
        self._unreadable: int | None = None
        #: Time and partition of failed reads.
        self.failed_reads: list[tuple[int, int]] = []
        self.was_unreadable = False
        #: Separate, so that cold reads do not change other worlds.
        self._cold_random = Random(f"cold reads of {world.seed}")
        self._cold = self._cold_random.choice((0.0, 0.0, 0.1, 0.6))
        for happen, counts in (
            (self._kill, (0, 0, 1, 2)),
            (world.stop, (0, 0, 0, 1)),
            (self._cut, (0, 2, 8)),
            (self._swallow, (0, 2, 5)),
            (self._stop_reading, (0, 0, 3)),
            (self._make_unreadable, (0, 0, 0, 2)),
            (self._jump, (0, 0, 4)),
        ):
            for _ in range(random.choice(counts)):
                self._timeline.after(random.randrange(20, FAULTS_MS), happen)
        if world.transactions.exist:
            # Then an end is prepared in one commit, and completed in another.
            for happen in (self._make_unreadable, self._kill):
                for _ in range(world.transactions.random.choice((0, 1, 3))):
                    at_ms = world.transactions.random.randrange(20, FAULTS_MS)
                    self._timeline.after(at_ms, happen)
        if world.has_groups and not world.expires and world.group_random.random() < 0.4:
            # Beyond the retention of offsets: those of live groups must not expire.
            at_ms = world.group_random.randrange(FAULTS_MS // 2, FAULTS_MS)
            self._timeline.after(at_ms, lambda: self._set_clock(150_000))
        self._timeline.after(FAULTS_MS, self._end)

    def _end(self) -> None:
        self._world.log("*", "no more failures")
        self.active = False
        self._fails = self._delays = 0.0
        self._dies_in_commit = False
        if self._world.transactions.exist and self._timeline.clock_is_behind_ms:
            # Otherwise open transactions would not time out for a day.
            self._set_clock(self._timeline.clock_is_behind_ms)

    def _kill(self) -> None:
        if self._world.process is None:
            return
        how = self._random.random()
        if how < 0.5:
            self._dies_in_commit = True
        elif how < 0.7:
            self._calls_to_live = self._random.randrange(1, 10)
        else:
            self._world.die("the broker is killed")

    # ---- connections

    def _some_line(self) -> Line | None:
        lines = [client.line for client in self._world.clients if client.line is not None]
        return self._random.choice(lines) if lines else None

    def _cut(self) -> None:
        line = self._some_line()
        if line is not None:
            session = line.session
            if session is not None and session.connection.running:
                self._world.count(Situation.LOST_WHILE_RUNNING)
                process = self._world.process
                if process is not None and process.store.loading:
                    self._world.count(Situation.LOST_WHILE_LOADING)
            self._world.log("*", "a connection is cut")
            if session is not None and session.connection.parked:
                self._world.count(Situation.PARKED)
            line.cut()

    def _swallow(self) -> None:
        line = self._some_line()
        if line is not None:
            self._world.log("*", "a connection loses all bytes of the broker")
            line.swallow()
            self._timeline.after(self._random.choice((20, 200)), line.cut)

    def _stop_reading(self) -> None:
        line = self._some_line()
        if line is not None:
            self._world.log("*", "a client does not read for a while")
            line.stop_reading(self._random.choice((50, 400)))

    def _make_unreadable(self) -> None:
        ids = list(self._world.disk.logs)
        self._unreadable = self._random.choice(ids) if ids and self._random.random() < 0.5 else None
        what = "the disk" if self._unreadable is None else f"partition {self._unreadable}"
        self._world.log("*", f"{what} is unreadable for a while")
        self._unreadable_until_ms = self._timeline.now + self._random.choice((5, 60, 200))

    def _jump(self) -> None:
        """Sets the wall clock; the monotonic clock is unaffected."""
        if self._world.expires:
            return  # producers would expire correctly
        self._set_clock(self._random.choice((-DAY_MS, -700, 700, 150_000, DAY_MS)))

    def _set_clock(self, by_ms: int) -> None:
        if abs(self._timeline.clock_is_off_ms + by_ms) <= DAY_MS:
            if by_ms < 0:
                self._world.model.committed.clock_goes_back()
            self._timeline.set_clock(by_ms)
            self._world.log("*", f"the clock is set by {by_ms} ms")
            self._world.count(
                Situation.CLOCK_SET_BACK if by_ms < 0 else Situation.CLOCK_SET_FORWARD
            )

    # ---- implements StoreControl

    def fate(self, changes: list[Change]) -> Fate:
        random = self._random
        if self._world.process is None:  # the first commit of a new store
            return Fate()
        delay_ms = random.randrange(1, self._longest_ms + 1)
        if random.random() >= self._delays:
            delay_ms = 0
        self._is_slow = delay_ms >= 200
        if self._dies_in_commit and changes:
            self._dies_in_commit = False
            return Fate(delay_ms, dies=True, persists=random.random() < 0.5)
        return Fate(delay_ms, fails=random.random() < self._fails)

    def called(self) -> None:
        if self._calls_to_live > 0 and self._world.process is not None and self.active:
            self._calls_to_live -= 1
            if not self._calls_to_live:
                self._world.die("the broker dies while it stages a change")
                raise ProcessDied

    def snapshot_read(self) -> None:
        self._world.count(Situation.SNAPSHOT)

    def reads_fail(self, partition_id: int) -> bool:
        if self._timeline.now >= self._unreadable_until_ms or not self.active:
            return False
        if self._unreadable not in (None, partition_id):
            return False
        if not self.was_unreadable:
            self._world.count(Situation.UNREADABLE)
        self.was_unreadable = True
        self.failed_reads.append((self._timeline.now, partition_id))
        return True

    def loading_ms(self, was_in_memory: bool) -> int:
        random = self._cold_random
        cold = self._cold / 20 if was_in_memory else self._cold
        waits_ms = (1, 5, 40, 300) if self.active else (1, 5)
        return random.choice(waits_ms) if random.random() < cold else 0

    def loaded(self, place: Place) -> None:
        process = self._world.process
        assert process is not None
        is_deleted = process.broker.catalog.unavailable_error(place.partition_id)
        if is_deleted and place.call != "drop":
            self._world.count(Situation.DELETED_WHILE_LOADING)

    def failed_to_read(self, partition_ids: list[int], since_ms: int) -> bool:
        """Returns True if a read of the partition failed since then."""
        return any(at >= since_ms and one in partition_ids for at, one in self.failed_reads)

    def persisted(self, changes: list[Change]) -> None:
        process = self._world.process
        if self._is_slow and process is not None:
            waiting = sum(bool(session.connection.running) for session in process.shared.sessions)
            if waiting >= 5:
                self._world.count(Situation.SLOW_COMMIT)
        committed = self._world.model.committed
        expired = committed.expired
        self._world.model.persisted(changes, self._timeline.now)
        self._may_die_prepared()
        if committed.expired > expired:
            self._world.count(Situation.OFFSETS_EXPIRED)

    def _may_die_prepared(self) -> None:
        world = self._world
        if not self.active or not world.model.transactions.prepared():
            return
        if world.transactions.random.random() < 0.3:
            self._timeline.after(0, lambda: self._kill_prepared(world.process))

    def _kill_prepared(self, process: Process | None) -> None:
        if process is not None and self._world.process is process:
            self._world.die("the broker is killed before a prepared transaction ends")

    def failed(self, under_way: list[Change], behind: list[Change]) -> None:
        self._world.log(
            "store", f"a commit of {len(under_way)} changes fails, {len(behind)} behind it"
        )
        self._expect_closed(under_way + behind)
        producers: dict[tuple[int, bytes], int] = {}
        for change in under_way:
            if isinstance(change, Append):
                key = change.partition_id, change.batch[43:51]
                if change.batch[43] != 0xFF:
                    producers[key] = producers.get(key, 0) + 1
        if any(count >= 3 for count in producers.values()):
            self._world.count(Situation.THREE_PIPELINED_FAIL)
        if any(isinstance(change, Replace) for change in under_way + behind):
            self._world.count(Situation.COMPACTION_FAILS)
        process = self._world.process
        if process is not None and process.store.waiting:
            self._world.count(Situation.FAILED_WHILE_WAITING)
        if any(isinstance(change, Append) for change in behind):
            self._world.count(Situation.FAILED_BEHIND)
        lost = {change.table for change in under_way + behind if isinstance(change, Row)}
        if producers and len(lost & {"topics", "configs", "groups", "offsets"}) >= 2:
            self._world.count(Situation.SEVERAL_KINDS_FAIL)
        if len({job for change in under_way + behind if (job := _job_of(change))}) >= 2:
            self._world.count(Situation.SEVERAL_JOBS_FAIL)
        if (
            producers
            and self._world.process is not None
            and len(self._world.process.broker.messages.fetch._purgatory)
        ):
            self._world.count(Situation.FETCH_OVER_FAILURE)

    def _expect_closed(self, lost: list[Change]) -> None:
        """The connection of a lost batch with acks=0 has to be closed."""
        for change in lost:
            if isinstance(change, Append) and change.batch[61:] in self._world.unanswered:
                line = self._world.unanswered[change.batch[61:]]
                self._timeline.after(1, line.check_closing)

    def died_in_commit(self, persisted: bool) -> None:
        self._world.count(Situation.TORN_COMMIT if persisted else Situation.DROPPED_COMMIT)
        self._world.die("the broker dies in a commit")


def _job_of(change: Change) -> str | None:
    """Returns the background job that staged the change, if known."""
    if isinstance(change, Trim):
        return "trimming"
    if isinstance(change, Replace):
        return "compaction"
    if isinstance(change, Drop):
        return "dropping"
    removes = isinstance(change, Row) and change.value is None
    return change.table if removes and change.table in ("offsets", "producers") else None
