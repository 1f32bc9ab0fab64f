"""Several brokers over one store: they stop, are killed, paused past their lease and come back, and
clients move leaders, by a seed.

Commits take some time and may fail. A paused broker learns late that it was fenced, and goes on
with what it led. Whoever finds a broker that leads appends there. Sometimes the store goes back to
what an asynchronous standby has, and all brokers start again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import NamedTuple

from application.background.loaded import loaded
from domain.cluster.registration import PartitionRegistration
from domain.errors import BrokerError, StorageFailed
from infrastructure.storage.memory.store import MemoryStore
from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.simulation.model import Violation

NODES = (1, 2, 3)
PARTITIONS = 2
STEPS = 600
HEADER_BYTES = 61
SETTLES_MS = 5000
#: Of PostgreSQL's timelines: more than there are changes of leaders.
TIMELINE_EPOCHS = 100_000


class Standby(NamedTuple):
    """The store at an earlier moment, and what was true then."""

    data: MemoryStore
    led: dict[tuple[int, int], int]
    acknowledged: dict[tuple[int, int], str]
    #: The leader epoch of each partition, or one before it.
    epochs: dict[int, int]


class SeveralBrokers:
    partitions = PARTITIONS
    goes_back = True
    steps = STEPS
    mishap_share = 0.03
    settings: Mapping[str, str] = {"default_replication_factor": "2"}

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.store = SharedStore()
        for node_id in NODES:
            self.store.start(node_id, **self.settings)
        self.topic = self.store.topic("t", self.partitions)
        #: The node that led a partition in an epoch.
        self.led: dict[tuple[int, int], int] = {}
        #: In these, or later ones, the store has lost records.
        self.lost_epochs: dict[int, int] = {}
        #: The record at an offset of a partition.
        self.acknowledged: dict[tuple[int, int], str] = {}
        self.appended = self.lost = self.stops = self.fences = self.asked = self.went_back = 0
        self.promotions = 0
        self.standby = self._copied()
        self.actions: tuple[Callable[[], None], ...] = (
            *([self._append] * 12),
            *([self._pass] * 12),
            *([self._time] * 6),
            *([self._hold] * 4),
            *([self._ask] * 3),
            self._end_commit,
            self._fail,
            *([self._replicate] * self.goes_back),
            self._promote,
        )

    def run(self) -> None:
        for _ in range(self.steps):
            if self.random.random() < self.mishap_share:
                self._mishap()
            else:
                self.random.choice(self.actions)()
            self._check_leaders()
        self._settle()
        self._check_logs()

    def _any(self) -> SharedBroker:
        return self.random.choice(list(self.store.brokers.values()))

    # ---- what happens

    def _append(self) -> None:
        broker, index = self._any(), self.random.randrange(self.partitions)
        record = str(self.appended)
        try:
            appended = broker.append(record_batch([record]), index=index)
        except BrokerError:
            return
        if not isinstance(appended, BrokerError):
            self.appended += 1
            place = self.topic.partition_ids[index], appended.base_offset
            broker.core.commits.wait(partial(self._ended, place, record))

    def _ended(self, place: tuple[int, int], record: str, failure: StorageFailed | None) -> None:
        if failure is not None:
            self.lost += 1
        elif place in self.acknowledged:
            raise Violation(f"two records at {place}")
        else:
            self.acknowledged[place] = record

    def _pass(self) -> None:
        self._any().scheduler.run_pass()

    def _time(self) -> None:
        self._any().scheduler.advance(self.random.choice((1, 3, 20)))

    def _hold(self) -> None:
        self._any().commit.hold()

    def _end_commit(self) -> None:
        commit = self._any().commit
        if commit.under_way:
            commit.let_go()
        else:
            commit.holding = False

    def _fail(self) -> None:
        commit = self._any().commit
        if commit.under_way:
            commit.let_fail()

    def _ask(self) -> None:
        broker, partition_id = self._any(), self.random.choice(self.topic.partition_ids)
        moves = broker.broker.topics.replicas
        place = "t", self.topic.partition_ids.index(partition_id)
        self.asked += 1
        ask: Callable[[], object] = partial(moves.elect, [place], True, 50)
        if self.random.random() >= 0.5:
            count = self.random.choice((1, 2))
            ask = partial(moves.reassign, [(place, self.random.sample(NODES, count))])
        broker.core.background.run(loaded(ask)).then(lambda _: None)

    def _mishap(self) -> None:
        living = [each for each in self.store.brokers if not self.store.members.is_fenced(each)]
        others = [each for each in NODES if each not in living]
        if self.goes_back and self.random.random() < 0.1:
            self._go_back()
            return
        if others and self.random.random() < 0.6:
            self._come_back(self.random.choice(others))
        elif len(living) > 1:
            self.random.choice((self._kill, self._stop, self._pause))(self.random.choice(living))

    def _come_back(self, node_id: int) -> None:
        if node_id in self.store.brokers:
            self.store.members.come_back(node_id)
        else:
            self.store.start(node_id, **self.settings)

    def _kill(self, node_id: int) -> None:
        """The last commit may be durable without a response."""
        self.store.kill(node_id, persists=self.random.random() < 0.5)
        if self.random.random() < 0.7:  # else it starts before its lease is over
            self._fence(node_id)

    def _stop(self, node_id: int) -> None:
        broker = self.store.brokers[node_id]
        broker.broker.hand_over_all()
        self.stops += 1
        for _ in range(self.random.randrange(20)):
            broker.scheduler.advance(1)
        self.store.kill(node_id)
        self._fence(node_id)

    def _pause(self, node_id: int) -> None:
        if self.random.random() < 0.7:
            self.store.members.late.add(node_id)
        self._fence(node_id)

    def _fence(self, node_id: int) -> None:
        self.fences += 1
        self.store.members.fence(node_id)

    def _promote(self) -> None:
        """A synchronous standby: nothing is lost."""
        self.promotions += 1
        for broker in self.store.brokers.values():
            broker.changes.promoted(self.promotions * TIMELINE_EPOCHS)

    def _copied(self) -> Standby:
        data = MemoryStore()
        data.take_over(self.store.data)
        brokers = self.store.brokers.values()
        epochs = {
            each: max(one.leader(each)[1] for one in brokers) for each in self.topic.partition_ids
        }
        return Standby(data, dict(self.led), dict(self.acknowledged), epochs)

    def _replicate(self) -> None:
        self.standby = self._copied()

    def _go_back(self) -> None:
        """Brokers notice that the store lacks their commits, and start again."""
        self.went_back += 1
        brokers = list(self.store.brokers)
        for node_id in brokers:
            self.store.kill(node_id, persists=self.random.random() < 0.5)
        self.store.data.take_over(self.standby.data)
        self.led, self.acknowledged = dict(self.standby.led), dict(self.standby.acknowledged)
        self.lost_epochs = self.standby.epochs
        for node_id in brokers:
            self._come_back(node_id)

    # ---- what must be true

    def _check_leaders(self) -> None:
        for partition_id in self.topic.partition_ids:
            for node_id, broker in self.store.brokers.items():
                leader = broker.core.placement.leader(partition_id)
                if leader.node_id == node_id and not self.store.members.is_fenced(node_id):
                    if leader.epoch <= self.lost_epochs.get(partition_id, -1):
                        raise Violation(f"{node_id} leads {partition_id} in the lost {leader}")
                    before = self.led.setdefault((partition_id, leader.epoch), node_id)
                    if before != node_id:
                        raise Violation(f"{before} and {node_id} lead {partition_id} in {leader}")

    def _settle(self) -> None:
        for node_id in NODES:
            if self.store.members.is_fenced(node_id) or node_id not in self.store.brokers:
                self._come_back(node_id)
        for broker in self.store.brokers.values():
            if broker.commit.under_way:
                broker.commit.let_go()
            broker.commit.holding = False
        self.store.advance(SETTLES_MS, step_ms=50)
        for partition_id in self.topic.partition_ids:
            seen = {one.leader(partition_id) for one in self.store.brokers.values()}
            if len(seen) != 1 or min(seen)[0] not in NODES:
                raise Violation(f"leaders of {partition_id}: {seen}")
            if self._registration(partition_id).is_reassigned:
                raise Violation(f"{partition_id} is reassigned still")

    def _registration(self, partition_id: int) -> PartitionRegistration:
        registrations = self.store.brokers[1].core.registrations
        assert registrations is not None
        one = registrations.get(partition_id)
        assert one is not None
        return one

    def _check_logs(self) -> None:
        found: dict[tuple[int, int], bytes] = {}
        for partition_id in self.topic.partition_ids:
            stored = self.store.data.partitions.get(partition_id)
            epoch = 0
            for offset, batch in enumerate(stored.batches if stored else ()):
                batch_epoch = int.from_bytes(batch[12:16], "big")
                if int.from_bytes(batch[:8], "big") != offset or batch_epoch < epoch:
                    raise Violation(f"{partition_id} has another batch at {offset}")
                epoch = batch_epoch
                found[partition_id, offset] = batch[HEADER_BYTES:]
        for place, record in self.acknowledged.items():
            if found.get(place) != bytes(record_batch([record]))[HEADER_BYTES:]:
                raise Violation(f"the acknowledged record {record} is not at {place}")
