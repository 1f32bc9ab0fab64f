"""Producers: idempotent with up to five requests in flight, and plain ones with every `acks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
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
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

CORRUPT, STORAGE, UNKNOWN, UNKNOWN_ID, OUT_OF_ORDER, LOADING = 2, 56, 3, 100, 45, 14
BY_ID = 13
FIRST_WITH_ZSTD = 7
NO_ID = bytes(16)


class Producer(Client):
    def __init__(self, world: World, name: str, idempotent: bool) -> None:
        super().__init__(world, name)
        random = self.random
        self.idempotent = idempotent
        self.acks = -1 if idempotent else random.choice((-1, -1, 1, 0))
        self.max_in_flight = 5 if idempotent else random.choice((1, 2, 5))
        self.version = random.choice((3, 7, 9, 12, 13, 13))
        #: librdkafka retries all batches of a partition at once, Java one by one.
        self.resends_all = random.random() < 0.5
        #: Probability that partitions share a request.
        self.packs = random.choice((0.0, 0.5))
        self.writing = Writing(random)
        if self.writing.codec == ZSTD:
            self.version = max(self.version, FIRST_WITH_ZSTD)
        #: Probability that a batch is corrupted in flight.
        self.corrupts = random.choice((0.0, 0.0, 0.2)) if self.acks else 0.0
        self.left = random.randrange(4, 16)
        self.producer_id = -1
        self._made = 0
        self._waiting = False
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._topics: dict[str, tuple[bytes, int]] = {}
        self._deletions: dict[str, int] = {}
        #: How often a partition may be unknown before its batches are dropped.
        self._unknown = 0

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        random = world.random
        idempotent = 5 if world.crowded else random.choice((1, 1, 2))
        plain = 2 if world.crowded else random.choice((0, 1, 1))
        return [
            *(cls(world, f"i{number}", idempotent=True) for number in range(idempotent)),
            *(cls(world, f"p{number}", idempotent=False) for number in range(plain)),
        ]

    def has_load_on(self, topic: str) -> bool:
        return any(
            lane.topic == topic and any(batch.in_flight for batch in lane.unacked)
            for lane in self._lanes.values()
        )

    # ---- next request

    def send_next(self) -> None:
        if self._waiting:
            return
        if self.idempotent and self.producer_id < 0:
            if not self.in_flight:
                self._request_id()
        elif not self._topics:
            self._request_topics()
        else:
            self._make()
            self._pump()
            if not self.left and not any(lane.unacked for lane in self._lanes.values()):
                self.log("is done")
                self.finish()
            elif not self.in_flight:
                self.later(20)

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False
        if self.acks == 0:
            self._topics = {}  # without responses it would not notice a deleted topic
        for lane in self._lanes.values():
            for batch in lane.unacked:
                if batch.in_flight:
                    batch.in_flight = False
                    lane.recovering = True

    def _request_id(self) -> None:
        self._waiting = True
        self.send(InitProducerIdRequest(transactional_id=None), 4, self._producer_id_response)

    def _producer_id_response(self, call: Call, response: InitProducerIdResponse) -> None:
        self._waiting = False
        if response.error_code == LOADING:
            self.later(20)
            return
        if response.error_code:
            raise Violation(f"InitProducerId failed with {response.error_code}")
        self.world.model.check_producer_id(response.producer_id)
        self.producer_id = response.producer_id
        for lane in self._lanes.values():
            lane.sequence = 0
            lane.recovering = False
            for batch in lane.unacked:
                self._number(batch)
        self.send_next()

    def _request_topics(self) -> None:
        self._waiting = True
        topics = [MetadataRequestTopic(name=name) for name in self.world.topic_names]
        self.send(
            MetadataRequest(topics=topics, allow_auto_topic_creation=False),
            12,
            self._metadata_response,
        )

    def _metadata_response(self, call: Call, response: MetadataResponse) -> None:
        self._waiting = False
        self._topics = self.world.known_topics(call, response)
        for name in self._topics:
            self._deletions[name] = self.world.model.times_deleted(name, call.requested)
        for lane in self._lanes.values():
            if lane.deletions is None:
                lane.deletions = self._deletions.get(lane.topic)
        if not self._topics and self.world.has_no_topics_left():
            self.log("has no topics left")
            self.finish()
        elif not self._topics:
            self.later(30)
        if not self._topics:
            return
        self.send_next()

    # ---- batches

    def _make(self) -> None:
        """Creates new batches, up to the limit in flight."""
        random = self.random
        waiting = sum(len(lane.unacked) for lane in self._lanes.values())
        for _ in range(random.choice((1, 3, 5))):
            if not self.left or waiting >= self.max_in_flight + 2:
                return
            name = random.choice(list(self._topics))
            lane = self._lane(name, random.randrange(self._topics[name][1]))
            if len(self._lanes) > 1 and random.random() < 0.5:
                lane = random.choice(list(self._lanes.values()))
            count = random.choice((1, 1, 2, 3))
            values = tuple(f"{self.name}:{self._made + i}" for i in range(count))
            self._made += count
            batch = Batch(lane, values, 0)
            self._number(batch)
            lane.unacked.append(batch)
            waiting += 1
            self.left -= 1
        if self.left:
            self.later(random.choice((1, 5, 30)))

    def _lane(self, topic: str, index: int) -> Lane:
        lane = self._lanes.get((topic, index))
        if lane is None:
            lane = self._lanes[topic, index] = Lane(topic, index)
            lane.deletions = self._deletions[topic]
        return lane

    def _number(self, batch: Batch) -> None:
        lane = batch.lane
        batch.sequence = lane.sequence
        lane.sequence += len(batch.values)
        batch.attempts = 0
        batch.data, times = self.writing.batch(
            batch.values,
            self.world.compaction.keys(lane.topic, len(batch.values), self.random),
            self.world.timeline.now_ms(),
            producer_id=self.producer_id,
            epoch=0 if self.idempotent else -1,
            sequence=batch.sequence if self.idempotent else -1,
        )
        self.world.model.sends(batch.data, batch.values, times)

    def _pump(self) -> None:
        sendable: list[list[Batch]] = []
        for lane in list(self._lanes.values()):
            if lane.recovering and not any(b.in_flight for b in lane.unacked):
                lane.recovering = False
            if lane.topic not in self._topics or lane.index >= self._topics[lane.topic][1]:
                if lane.unacked and not any(b.in_flight for b in lane.unacked):
                    self._gone(lane)
                continue
            sendable.append(self._next_of(lane))
        if self._topics:  # not after a restart
            self._send_all([batch for batches in sendable for batch in batches])

    def _next_of(self, lane: Lane) -> list[Batch]:
        """The batches of a partition that may be sent now, in order."""
        found: list[Batch] = []
        for batch in lane.unacked:
            if lane.recovering:
                break
            if batch.in_flight:
                continue
            if batch.attempts and not self.resends_all and batch is not lane.unacked[0]:
                break
            found.append(batch)
        return found

    def _send_all(self, batches: list[Batch]) -> None:
        """A request has one batch, or batches of several partitions."""
        while batches and self.in_flight < self.max_in_flight and self.line is not None:
            together = [batches.pop(0)]
            while batches and self.random.random() < self.packs:
                lanes = [batch.lane for batch in together]
                fitting = next((b for b in batches if b.lane not in lanes), None)
                if fitting is None:
                    break
                batches.remove(fitting)
                together.append(fitting)
            self._send(together)

    def _send(self, batches: list[Batch]) -> None:
        request = ProduceRequest(
            acks=self.acks, timeout_ms=30_000, topic_data=[self._data(one) for one in batches]
        )
        for batch in batches:
            batch.attempts += 1
            if self.acks == 0:
                batch.lane.unacked.remove(batch)
            else:
                batch.in_flight = True
        if self.acks == 0:
            assert self.line is not None
            self.world.unanswered[batches[0].data[61:]] = self.line
            self.send_without_response(request, self.version)
            return
        sequences = [batch.sequence for batch in batches]
        self.send(
            request,
            self.version,
            lambda call, response: self._produced(call, response, batches, sequences),
            lambda: self._arriving(batches),
        )

    def _data(self, batch: Batch) -> TopicProduceData:
        by_id = self.version >= BY_ID
        name = batch.lane.topic
        data = PartitionProduceData(index=batch.lane.index, records=self._sent_bytes(batch))
        return TopicProduceData(
            name="" if by_id else name,
            topic_id=self._topics[name][0] if by_id else NO_ID,
            partition_data=[data],
        )

    def _sent_bytes(self, batch: Batch) -> memoryview:
        """Corrupts first attempts only, of producers that the partition knows: otherwise the next
        batch would be accepted, or the batch would no longer be a duplicate, as with Kafka.
        """
        batch.corrupted = False
        is_known = batch.lane.stored or not self.idempotent
        if (
            batch.attempts
            or not is_known
            or not self.world.has_faults
            or self.random.random() >= self.corrupts
        ):
            return memoryview(batch.data)
        batch.corrupted = True
        corrupted = bytearray(batch.data)
        corrupted[self.random.randrange(23, len(corrupted))] ^= 0x10
        return memoryview(corrupted)

    def _arriving(self, batches: list[Batch]) -> None:
        for batch in batches:
            batch.was_stored = batch.attempts > 1 and self.world.model.is_stored(batch.values)
            if self.idempotent and batch.attempts > 1 and self.world.is_staged(batch.data[61:]):
                self.world.count(Situation.DUPLICATE_NOT_DURABLE)

    # ---- responses

    def _produced(
        self, call: Call, response: ProduceResponse, batches: list[Batch], sequences: list[int]
    ) -> None:
        for batch in batches:
            batch.in_flight = False
        if len(response.responses) != len(batches):
            raise Violation(f"{len(batches)} batches got the response {response.responses}")
        well = True
        for batch, sequence, sent, topic in zip(
            batches, sequences, call.message.topic_data, response.responses, strict=True
        ):
            named = sent.topic_id if call.version >= BY_ID else sent.name
            (one,) = topic.partition_responses
            well = self._settle(batch, sequence, named, one, call) and well
        if well:
            self.send_next()
        else:
            self.later(self.random.choice((1, 10, 30)))

    def _settle(
        self, batch: Batch, sequence: int, topic: str | bytes, one: PartitionProduceResponse,
        call: Call,
    ) -> bool:  # fmt: skip
        """Checks the result of a batch; returns False if the producer has to wait."""
        lane = batch.lane
        if one.error_code == 0:
            if batch.corrupted:
                raise Violation(f"{batch.values} was corrupted, and is acknowledged")
            lane.stored = self.producer_id >= 0  # else the batch has the previous id
            if batch.data[22] & 7:
                self.world.count(Situation.COMPRESSED)
            self.world.model.acked(topic, one.index, one.base_offset, batch.values, call.responded)
            if batch.was_stored and self.idempotent:
                self.world.count(Situation.RETRY_AFTER_LOST_REPLY)
            if batch in lane.unacked and batch.sequence == sequence:
                lane.unacked.remove(batch)
            return True
        self.log(f"{batch.values[0]} at {lane.topic}-{one.index}: error {one.error_code}")
        if self.idempotent or self.max_in_flight == 1:
            lane.recovering = True
        if one.error_code in (UNKNOWN, UNKNOWN_ID):
            self.world.model.refused_as_unknown(topic, one.index, *call.commits)
            self._topics = {}
        elif one.error_code == CORRUPT and batch.corrupted:
            self.world.count(Situation.CORRUPTED)
        elif one.error_code == OUT_OF_ORDER and self.idempotent:
            self._out_of_order(batch)
        elif one.error_code != STORAGE:
            raise Violation(f"{batch.values} was refused with error {one.error_code}")
        return False

    def _out_of_order(self, batch: Batch) -> None:
        """Valid behind a failed batch, and for a recreated topic."""
        lane = batch.lane
        if self.producer_id < 0:  # it has restarted; the request was still in flight
            return
        if not lane.unacked or batch is not lane.unacked[0]:
            return
        now = self.world.disk.commits
        other_topic = self.world.model.times_deleted(lane.topic, now) != lane.deletions
        # The partition may have been unreadable for the first batch only.
        if not other_topic and not self.world.mishaps.was_unreadable:
            raise Violation(
                f"{batch.values} with sequence {batch.sequence} of producer {self.producer_id} is "
                "the next of its partition, and is refused as out of order"
            )
        self._restart()

    def _gone(self, lane: Lane) -> None:
        """Drops unacknowledged batches of a deleted topic."""
        lane.unacked.clear()
        if self.idempotent:
            self._restart()
        if not self.world.model.live():
            self.left = 0

    def _restart(self) -> None:
        """Requests a new producer id, as results of batches are unknown."""
        self.log("requests a new producer id")
        self.producer_id = -1
        self._topics = {}
        for lane in self._lanes.values():
            lane.deletions = None
            lane.stored = False
        self.later(1)
