"""Several brokers over one store: they stop, are killed, paused past their lease and come back, and
clients move leaders, by a seed.

Commits take some time and may fail, or are persisted, and their brokers learn it later. A paused
broker learns late that it was fenced, and goes on with what it led. Whoever finds a broker that
leads appends there. Sometimes the store goes back to what an asynchronous standby has. Brokers go
on with it if they can repeat what it lacks; others start again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from application.background.loaded import loaded
from domain.cluster.registration import PartitionRegistration
from domain.errors import BrokerError, StorageFailed
from domain.groups.offsets import CommittedOffset
from domain.messages.batch import HEADER_BYTES
from tests.fakes.batches import record_batch
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.simulation.acknowledged import Acknowledged
from tests.simulation.group_offsets import GroupOffsets
from tests.simulation.model import Violation

NODES = (1, 2, 3)
PARTITIONS = 2
STEPS = 600
SETTLES_MS = 5000
#: Of PostgreSQL's timelines: more than there are changes of leaders.
TIMELINE_EPOCHS = 100_000


class SeveralBrokers:
    partitions = PARTITIONS
    steps = STEPS
    mishap_share = 0.03
    #: Of each broker, when the store goes back.
    dies_share = 0.15
    settings: Mapping[str, str] = {
        "default_replication_factor": "2",
        "offsets_topic": "on",
        "offsets_topic_num_partitions": "3",
        "transaction_state_log_num_partitions": "3",
    }

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.happened: Counter[str] = Counter()
        #: What happened.
        self.log_lines: list[str] = []
        self.step = 0
        self.store = SharedStore()
        self.store.when_went_on = self._went_on
        for node_id in NODES:
            self.store.start(node_id, **self.settings)
        self.topic = self.store.topic("t", self.partitions)
        #: The node that led a partition in an epoch.
        self.led: dict[tuple[int, int], int] = {}
        #: Brokers that start after a loss lead in later epochs.
        self.lost_epoch = -1
        self.started_before: set[SharedBroker] = set()
        #: By the places of records.
        self.acknowledged = Acknowledged()
        self.offsets = GroupOffsets(self)
        self.appended = self.went_back = self.promotions = 0
        #: How soon the standby has what brokers share: nothing can be repeated without it.
        self.shared_share = self.random.choice((0.0, 0.3))
        self._replicate()
        self.actions: tuple[Callable[[], None], ...] = (
            *([self._append] * 12),
            *([self._pass] * 12),
            *([self._time] * 6),
            *([self._hold] * 4),
            *([self._ask] * 3),
            *([self.offsets.step] * 6),
            *([self._lose_response] * 2),
            self._end_commit,
            self._fail,
            self._replicate,
            self._promote,
        )

    def run(self) -> None:
        for step in range(self.steps):
            self.step = step
            if self.random.random() < self.mishap_share:
                self._mishap()
            else:
                self.random.choice(self.actions)()
            for node_id in self.store.over:
                if self.random.random() < 0.1:
                    self._start_again(node_id)
            lacks_shared = self.store.database.version != self.standby.version
            if lacks_shared and self.random.random() < self.shared_share:
                self._replicate()
            self._check_leaders()
        self._log("settles")
        self._settle()
        self._check_logs()
        self._count()

    def _count(self) -> None:
        """Counts what is known only at the end."""
        self.happened["acknowledged records"] = len(self.acknowledged.values)
        self.happened["records and offsets that the store has lost, before they are repeated"] = (
            self.acknowledged.lost + self.offsets.acknowledged.lost
        )
        self.happened["leader epochs"] = len(self.led)
        self.happened["promotions of a standby that lacks commits"] = self.went_back

    def _log(self, event: str) -> None:
        self.log_lines.append(f"{self.step:5} {event}")

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
            broker.core.commits.wait(partial(self._ended, broker, place, record))

    def _ended(
        self,
        broker: SharedBroker,
        place: tuple[int, int],
        record: str,
        failure: StorageFailed | None,
    ) -> None:
        if failure is not None:
            self.happened["records of failed commits"] += 1
        elif place in self.acknowledged.values:
            raise Violation(f"two records at {place}")
        else:
            self.acknowledged.add(broker, place, record)

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

    def _lose_response(self) -> None:
        """The broker learns what has become of its commit when it ends."""
        broker = self._any()
        if broker.commit.under_way and not broker.commit.is_answered:
            broker.commit.lose_response()
            self.happened["commits whose outcome is not known"] += 1
            self._log(f"{broker.config.node_id} does not know the outcome of its commit")

    def _fail(self) -> None:
        commit = self._any().commit
        if commit.under_way:
            commit.let_fail()

    def _ask(self) -> None:
        broker, partition_id = self._any(), self.random.choice(self.topic.partition_ids)
        moves = broker.broker.topics.replicas
        place = "t", self.topic.partition_ids.index(partition_id)
        self.happened["requests to move leaders"] += 1
        self._log(f"{broker.config.node_id} is asked to move {place}")
        ask: Callable[[], object] = partial(moves.elect, [place], True, 50)
        if self.random.random() >= 0.5:
            count = self.random.choice((1, 2))
            ask = partial(moves.reassign, [(place, self.random.sample(NODES, count))])
        broker.core.background.run(loaded(ask)).then(lambda _: None)

    def _mishap(self) -> None:
        living = [each for each in self.store.brokers if not self.store.members.is_fenced(each)]
        others = [each for each in NODES if each not in living]
        if self.random.random() < 0.1:
            self._go_back()
            return
        if others and self.random.random() < 0.6:
            self._come_back(self.random.choice(others))
        elif len(living) > 1:
            self.random.choice((self._kill, self._stop, self._pause))(self.random.choice(living))

    def _come_back(self, node_id: int) -> None:
        self._log(f"{node_id} comes back")
        if node_id in self.store.over:
            self._start_again(node_id)
        elif node_id in self.store.brokers:
            self.store.members.come_back(node_id)
        else:
            self.store.start(node_id, **self.settings)

    def _kill(self, node_id: int) -> None:
        """The last commit may be durable without a response."""
        self._log(f"{node_id} is killed")
        self.store.kill(node_id, persists=self.random.random() < 0.5)
        if self.random.random() < 0.7:  # else it starts before its lease is over
            self._fence(node_id)

    def _stop(self, node_id: int) -> None:
        self._log(f"{node_id} stops")
        broker = self.store.brokers[node_id]
        broker.broker.hand_over_all()
        self.happened["brokers that stop"] += 1
        for _ in range(self.random.randrange(20)):
            broker.scheduler.advance(1)
        self.store.kill(node_id)
        self._fence(node_id)

    def _pause(self, node_id: int) -> None:
        if self.random.random() < 0.7:
            self.store.members.late.add(node_id)
        self._fence(node_id)

    def _fence(self, node_id: int) -> None:
        self.happened["brokers that are fenced"] += 1
        self._log(f"{node_id} is fenced")
        self.store.members.fence(node_id)

    def _promote(self) -> None:
        """A synchronous standby: nothing is lost."""
        self._log("a synchronous standby is promoted")
        self.store.promote(self._next_timeline())

    def _next_timeline(self) -> int:
        self.promotions += 1
        return self.promotions * TIMELINE_EPOCHS

    def _replicate(self) -> None:
        self.standby = self.store.past()
        self.acknowledged.copied()
        self.offsets.acknowledged.copied()

    def _go_back(self) -> None:
        """An asynchronous standby: brokers may die with the server."""
        for node_id in list(self.store.brokers):
            if len(self.store.brokers) > 1 and self.random.random() < self.dies_share:
                self._kill(node_id)
        self._log("the store goes back")
        self.went_back += 1
        self.acknowledged.went_back()
        self.offsets.went_back()
        self.started_before = set(self.store.brokers.values())
        self.lost_epoch = max((epoch for _, epoch in self.led), default=-1)
        self.store.return_to(self.standby, self._next_timeline())

    def _went_on(self, broker: SharedBroker, repeated: int) -> None:
        self._log(f"{broker.config.node_id} goes on, and repeats {repeated} commits")
        self.happened["brokers that go on with it"] += 1
        self.happened["commits that are repeated"] += repeated
        self.acknowledged.went_on(broker)
        self.offsets.acknowledged.went_on(broker)

    def _start_again(self, node_id: int) -> None:
        self._log(f"{node_id} starts again")
        self.happened["brokers that start again"] += 1
        self.store.kill(node_id)
        self.store.start(node_id, **self.settings)

    # ---- what must be true

    def _check_leaders(self) -> None:
        for partition_id in self.topic.partition_ids:
            for node_id, broker in self.store.brokers.items():
                leader = broker.core.placement.leader(partition_id)
                if leader.node_id == node_id and not self.store.members.is_fenced(node_id):
                    is_new = broker not in self.started_before
                    if is_new and leader.epoch <= self.lost_epoch:
                        raise Violation(f"{node_id} leads {partition_id} in the lost {leader}")
                    before = self.led.setdefault((partition_id, leader.epoch), node_id)
                    if before != node_id:
                        raise Violation(f"{before} and {node_id} lead {partition_id} in {leader}")

    def _settle(self) -> None:
        for broker in self.store.brokers.values():
            broker.commit.learn()
        for node_id in self.store.over:
            self._start_again(node_id)
        for node_id in NODES:
            if self.store.members.is_fenced(node_id) or node_id not in self.store.brokers:
                self._come_back(node_id)
        for broker in self.store.brokers.values():
            if broker.commit.under_way:
                broker.commit.let_go()
            broker.commit.holding = False
        self.store.advance(SETTLES_MS, step_ms=50)
        losses = [one.changes.losses for one in self.store.brokers.values()]
        if set(losses) != {self.store.losses}:
            raise Violation(f"brokers know of {losses} losses, not of {self.store.losses}")
        for partition_id in self.topic.partition_ids:
            seen = {one.leader(partition_id) for one in self.store.brokers.values()}
            if len(seen) != 1 or min(seen)[0] not in NODES:
                raise Violation(f"leaders of {partition_id}: {seen}")
            if min(seen)[1] < self.store.first_epoch:
                raise Violation(f"{seen} of {partition_id} is of an earlier timeline")
            if self._registration(partition_id).is_reassigned:
                raise Violation(f"{partition_id} is reassigned still")

    def _registration(self, partition_id: int) -> PartitionRegistration:
        registrations = self.store.brokers[1].core.registrations
        assert registrations is not None
        one = registrations.get(partition_id)
        assert one is not None
        return one

    def offsets_of(self, group_id: str) -> list[CommittedOffset]:
        """In the topic."""
        found = [
            one.broker.groups.offsets.of(group_id)
            for one in self.store.brokers.values()
            if one.broker.groups.coordinators.is_here(group_id)
        ]
        if len(found) != 1:
            raise Violation(f"{group_id} has {len(found)} coordinators")
        return list(found[0].get("t", {}).values())

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
        self.offsets.check()
        for place, record in self.acknowledged.values.items():
            if found.get(place) != bytes(record_batch([record]))[HEADER_BYTES:]:
                raise Violation(f"the acknowledged record {record} is not at {place}")
