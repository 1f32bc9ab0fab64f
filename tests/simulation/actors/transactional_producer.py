"""A transactional producer: commits, aborts, or leaves its transactions open.

Several may have one transactional id: the newest fences the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.fakes.batches import ZSTD
from tests.simulation.actors.client import Call, Client
from tests.simulation.actors.lanes import Batch, Lane, Writing
from tests.simulation.actors.transactor import (
    INVALID_EPOCH,
    LATER,
    UNKNOWN_MAPPING,
    Transactor,
)
from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.world import World

NOT_ENOUGH_REPLICAS, OUT_OF_ORDER, STORAGE, UNKNOWN, UNKNOWN_ID = 19, 45, 56, 3, 100
BY_ID = 13
NO_ID = bytes(16)
MAX_IN_FLIGHT = 5


class TransactionalProducer(Transactor):
    def __init__(self, world: World, name: str, transactional_id: str) -> None:
        super().__init__(world, name, transactional_id)
        random = self.random
        self.version = random.choice((12, 13) if self.is_version_2 else (3, 9, 11))
        self.writing = Writing(random)
        if self.writing.codec == ZSTD:
            self.version = max(self.version, 7)
        #: Transactions to begin.
        self.left = random.choice((2, 4, 7))
        #: Probability that batches of several partitions share a request.
        self._packs = random.choice((0.0, 0.5))
        #: Probability that a transaction is left open for longer than its timeout.
        self._leaves = random.choice((0.0, 0.0, 0.2))
        self._aborts = random.choice((0.0, 0.3))
        self._made = 0
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._unacked: list[Batch] = []
        self._topics: dict[str, tuple[bytes, int]] = {}
        self._gives_up = False
        self._sleeps_until_ms = 0

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        if not world.transactions.exist:
            return []
        return [
            cls(world, f"{transactional_id}{'ab'[number]}", transactional_id)
            for transactional_id, count in world.transactions.producers.items()
            for number in range(count)
        ]

    def has_load_on(self, topic: str) -> bool:
        return any(batch.lane.topic == topic and batch.in_flight for batch in self._unacked)

    # ---- the next request

    def send_next(self) -> None:
        asleep_ms = self._sleeps_until_ms - self.world.timeline.now
        if self.waiting or asleep_ms > 0:
            if asleep_ms > 0:
                self.later(asleep_ms)
        elif self.producer is None or (self.needs_epoch and self.attempt is None):
            if not self.left:
                self.finish()
            else:
                self.initialize()
        elif self.attempt is not None:
            self._go_on()
        elif not self.left:
            self.finish()
        elif not self._topics:
            self._request_topics()
        else:
            self._begin()

    def lost(self, calls: list[Call]) -> None:
        super().lost(calls)
        for batch in self._unacked:
            batch.in_flight = False
            batch.lane.recovering = False

    def begin_again(self) -> None:
        was_in_flight = self.in_flight
        self.ending = None
        self.end_is_retry = self._gives_up = self.has_added_group = self.waiting = False
        self.added.clear()
        self.offsets.clear()
        self._unacked.clear()
        if was_in_flight:
            self.disconnect()  # their responses do not matter any more
        self.later(self.random.choice((1, 5, 30)))

    def new_epoch(self) -> None:
        self._lanes.clear()

    def _request_topics(self) -> None:
        self.waiting = True
        topics = [MetadataRequestTopic(name=name) for name in self.world.topic_names]
        self.send(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12, self._listed)

    def _listed(self, call: Call, response: MetadataResponse) -> None:
        self._topics = self.world.known_topics(call, response)
        if not self._topics and self.world.has_no_topics_left():
            self.left = 0
        self.again(0, 1) if self._topics else self.again(30)

    # ---- a transaction

    def _begin(self) -> None:
        self.left -= 1
        assert self.producer is not None
        attempts = self.transactions.attempts
        attempt = attempts.begin(self.transactional_id, self.producer, self.timeout_ms)
        self.attempt = attempt
        has_offsets = self.random.random() < 0.4
        for _ in range(self.random.choice((1, 1, 2, 3, 6) if not has_offsets else (0, 1, 3))):
            self._make(self._place())
        if has_offsets:
            for topic, index in sorted({self._place() for _ in range(2)}):
                key = self.group_id, topic, index
                offset, metadata = self.world.model.committed.attempt(key)
                deletions = self.world.model.times_deleted(topic, self.world.disk.commits)
                attempts.commits_offset(attempt, key, offset, deletions)
                self.offsets.append((key, offset, metadata))
        self.log(f"begins {attempt}: {len(self._unacked)} batches, {len(self.offsets)} offsets")
        self._go_on()

    def _place(self) -> tuple[str, int]:
        name = self.random.choice(list(self._topics))
        return name, self.random.randrange(self._topics[name][1])

    def _make(self, place: tuple[str, int]) -> None:
        assert self.producer is not None and self.attempt is not None
        lane = self._lanes.setdefault(place, Lane(*place))
        count = self.random.choice((1, 1, 2))
        values = tuple(f"{self.name}:{self._made + number}" for number in range(count))
        self._made += count
        batch = Batch(lane, values, lane.sequence)
        lane.sequence += count
        batch.data, times = self.writing.batch(
            values,
            self.world.compaction.keys(lane.topic, count, self.random),
            self.world.timeline.now_ms(),
            producer_id=self.producer.producer_id,
            epoch=self.producer.epoch,
            sequence=batch.sequence,
            transactional=True,
        )
        self.world.model.sends(batch.data, values, times)
        self.transactions.attempts.writes(self.attempt, values[0])
        self._unacked.append(batch)

    def give_up(self) -> None:
        self._gives_up = True
        self._topics = {}
        self._unacked = [batch for batch in self._unacked if batch.in_flight]
        self.offsets.clear()
        self.needs_epoch = not self.is_version_2
        self.later(1)

    def _go_on(self) -> None:
        """The next requests of a transaction."""
        if self.ending is not None:
            self.end(self.ending)
        elif self._gives_up:
            if not self.in_flight:
                self._abandon()
        elif not self.is_version_2 and (places := self._places() - self.added):
            if not self.in_flight:
                self.add_partitions(places)
        elif self._unacked:
            self._pump()
        elif self.offsets and not (self.is_version_2 or self.has_added_group):
            self.add_offsets()
        elif self.offsets:
            self.commit_offsets()
        else:
            self._finish_transaction()

    def _places(self) -> set[tuple[str, int]]:
        return {(batch.lane.topic, batch.lane.index) for batch in self._unacked}

    def _finish_transaction(self) -> None:
        random = self.random
        if random.random() < 0.2:
            self.read_offsets()
        elif random.random() < self._leaves:
            self._leaves = 0.0
            if random.random() < 0.5:
                self.log("leaves its transaction open, for ever")
                self.finish()
            else:
                self._sleeps_until_ms = self.world.timeline.now + self.timeout_ms + 100
                self.log(f"leaves its transaction open until {self._sleeps_until_ms} ms")
                self.later(self.timeout_ms + 100)
        else:
            self.end(random.random() >= self._aborts)

    def _abandon(self) -> None:
        if self.is_version_2 or self.added or self.has_added_group:
            self.end(committed=False)
        else:  # the coordinator may have nothing to abort
            self.attempt = None
            self.begin_again()

    # ---- batches

    def _pump(self) -> None:
        sendable: list[Batch] = []
        for batch in self._unacked:
            lane = batch.lane
            if lane.recovering and not any(b.in_flight for b in self._unacked if b.lane is lane):
                lane.recovering = False
            if not batch.in_flight and not lane.recovering:
                if lane.topic not in self._topics or lane.index >= self._topics[lane.topic][1]:
                    self.give_up()
                    return
                sendable.append(batch)
        while sendable and self.in_flight < MAX_IN_FLIGHT and self.line is not None:
            together = [sendable.pop(0)]
            other = next((b for b in sendable if b.lane is not together[0].lane), None)
            if other is not None and self.random.random() < self._packs:
                # Not before an earlier batch of its partition.
                sendable.remove(other)
                together.append(other)
            self._send(together)
        if not self.in_flight:
            self.later(20)

    def _send(self, batches: list[Batch]) -> None:
        for batch in batches:
            batch.in_flight = True
        request = ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[self._data(batch) for batch in batches],
        )
        self.send(
            request,
            self.version,
            lambda call, response: self._produced(call, response, batches),
        )

    def _data(self, batch: Batch) -> TopicProduceData:
        by_id, name = self.version >= BY_ID, batch.lane.topic
        return TopicProduceData(
            name="" if by_id else name,
            topic_id=self._topics[name][0] if by_id else NO_ID,
            partition_data=[
                PartitionProduceData(index=batch.lane.index, records=memoryview(batch.data))
            ],
        )

    def _produced(self, call: Call, response: ProduceResponse, batches: list[Batch]) -> None:
        well = True
        for batch in batches:
            batch.in_flight = False
        for batch, sent, topic in zip(
            batches, call.message.topic_data, response.responses, strict=True
        ):
            named = sent.topic_id if call.version >= BY_ID else sent.name
            (one,) = topic.partition_responses
            if self.attempt is not None:
                well = self._settle(batch, named, one, call) and well
        if self.attempt is None or self.line is None:
            return
        if well:
            self.send_next()
        else:
            self.later(self.random.choice((1, 10, 30)))

    def _settle(
        self, batch: Batch, topic: str | bytes, one: PartitionProduceResponse, call: Call
    ) -> bool:
        """Checks the result of a batch; returns False if the producer has to wait."""
        code = one.error_code
        if code == 0:
            self.accepted(call)
            self.world.model.acked(topic, one.index, one.base_offset, batch.values, call.responded)
            if batch in self._unacked:
                self._unacked.remove(batch)
            return True
        self.log(f"{batch.values[0]} at {batch.lane.topic}-{one.index}: error {code}")
        batch.lane.recovering = True
        if code in (UNKNOWN, UNKNOWN_ID):
            self.world.model.refused_as_unknown(topic, one.index, *call.commits)
            self.give_up()
        elif code == OUT_OF_ORDER:
            self._out_of_order(batch)
        elif code not in (STORAGE, NOT_ENOUGH_REPLICAS, *LATER):
            self.refused("Produce", code, call, (INVALID_EPOCH, UNKNOWN_MAPPING))
        return False

    def _out_of_order(self, batch: Batch) -> None:
        """Valid behind a failed batch, and for a recreated topic."""
        first = next((one for one in self._unacked if one.lane is batch.lane), None)
        if batch is not first or self._gives_up:
            return
        known = self.world.model.incarnations.get(batch.lane.topic, ())
        if len(known) < 2 and not self.world.mishaps.was_unreadable:
            raise Violation(
                f"{batch.values} with sequence {batch.sequence} of {self.producer} is the next of "
                "its partition, and is refused as out of order"
            )
        self.give_up()
