"""Producers of every kind; each records requests and responses in its ledger."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from tests.crash.fleet import Client
from tests.crash.ledger import Batch, Broken, PartitionLedger, Stream
from tests.crash.payload import Payload
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import (
    INIT_PRODUCER_ID,
    LIST_OFFSETS,
    PRODUCE,
    Reader,
    array,
    string,
)

UNKNOWN_TOPIC, LOADING, OUT_OF_ORDER, STORAGE_ERROR = 3, 14, 45, 56
IN_FLIGHT = 5
#: Requests of one client in flight.
UNSENT_BYTES = 2 << 20


class Part(NamedTuple):
    """One batch for one partition."""

    topic: Topic
    partition: int
    batch: Batch

    @property
    def ledger(self) -> PartitionLedger:
        return self.topic.ledger(self.partition)


def produce_body(parts: Sequence[Part], acks: int) -> bytes:
    """The partitions of one topic."""
    rows = [struct.pack(">ii", p.partition, len(p.batch.bytes)) + p.batch.bytes for p in parts]
    head = string(None) + struct.pack(">hi", acks, 30_000)
    return head + array([string(parts[0].topic.name) + array(rows)])


def read_produced(response: Reader) -> list[tuple[int, int, int]]:
    """(partition, error, base offset) of one topic."""
    response.take("i"), response.string()
    (count,) = response.take("i")
    rows = [response.take("ihqqq") for _ in range(count)]
    return [(index, error, offset) for index, error, offset, _time, _start in rows]


class Producer(Client):
    acks = -1
    in_flight = IN_FLIGHT
    #: Requests per run of the broker: all records are read again after the next start.
    quota = 120

    def __init__(self, name: str, payload: Payload, topics: Topics) -> None:
        super().__init__(name)
        self.payload, self.topics, self.chance = payload, topics, payload.chance
        self.left = self.quota

    def begin(self) -> None:
        super().begin()
        self.left = self.quota

    def next_request(self) -> list[Part]:
        raise NotImplementedError

    def send_next(self) -> None:
        while self.left > 0 and len(self.pending) < self.in_flight and len(self.out) < UNSENT_BYTES:
            self.left -= 1
            self.send(self.next_request())

    def send(self, parts: list[Part]) -> None:
        for part in parts:
            part.ledger.sends(part.batch)
        self.send_request(
            PRODUCE, 7, produce_body(parts, self.acks), parts, response=self.acks != 0
        )

    def on_response(self, context: list[Part], response: Reader) -> None:
        results = read_produced(response)
        if [index for index, _, _ in results] != [part.partition for part in context]:
            raise Broken(f"{self.name}: the response has {results}")
        for part, (_, error, offset) in zip(context, results, strict=True):
            if error == 0:
                self.accepted(part, offset)
            else:
                self.refused(part, error)

    def accepted(self, part: Part, offset: int) -> None:
        part.ledger.acknowledges(part.batch, offset)

    def refused(self, part: Part, error: int) -> None:
        if not (error == STORAGE_ERROR and self.storage_may_fail):
            raise Broken(f"{self.name}: {part.ledger.name} is refused: error {error}")

    def drawn_partitions(self, most: int) -> list[int]:
        count = self.topics.main.partitions
        return sorted(self.chance.sample(range(count), self.chance.randint(1, min(most, count))))


class PlainProducer(Producer):
    """Requests over several partitions, without retries: a prefix of its stream must persist."""

    def __init__(self, name: str, payload: Payload, topics: Topics, acks: int) -> None:
        super().__init__(name, payload, topics)
        self.acks = acks
        self.stream = Stream(name)

    def begin(self) -> None:
        super().begin()
        self.stream = Stream(self.name)

    def next_request(self) -> list[Part]:
        main = self.topics.main
        return [Part(main, index, self.payload.any()) for index in self.drawn_partitions(3)]

    def send(self, parts: list[Part]) -> None:
        super().send(parts)
        self.stream.requests.append([(part.ledger, part.batch) for part in parts])


class AcksZeroProducer(PlainProducer):
    """acks=0: sends another request now and then and waits for it, as flow control."""

    may_be_cut_off = True
    pace = 10

    def __init__(self, name: str, payload: Payload, topics: Topics) -> None:
        super().__init__(name, payload, topics, acks=0)

    def send_next(self) -> None:
        if self.pending or self.left <= 0:
            return
        self.left -= self.pace
        for _ in range(self.pace):
            self.send(self.next_request())
        row = string(self.topics.main.name) + array([struct.pack(">iq", 0, -1)])
        body = struct.pack(">i", -1) + array([row])
        self.send_request(LIST_OFFSETS, 1, body, None)

    def on_response(self, context: object, response: Reader) -> None:
        pass


class RetryingProducer(Producer):
    """Not idempotent: resends unacknowledged batches, which may then be there twice."""

    def __init__(self, name: str, payload: Payload, topics: Topics) -> None:
        super().__init__(name, payload, topics)
        self.again: list[list[Part]] = []

    def begin(self) -> None:
        self.again = [parts for _, parts in self.pending] + self.again
        super().begin()

    def move(self) -> None:
        self.pending.clear()
        self.again.clear()

    def next_request(self) -> list[Part]:
        if self.again:
            return self.again.pop(0)
        main = self.topics.main
        return [Part(main, index, self.payload.small()) for index in self.drawn_partitions(1)]


class IdempotentProducer(Producer):
    """Idempotent: after a loss resends all unacknowledged batches in order."""

    #: Batches of about 1 MB at the beginning of each run.
    large = 0

    def __init__(self, name: str, payload: Payload, topics: Topics) -> None:
        super().__init__(name, payload, topics)
        self.producer_id: int | None = None
        self.next_sequence: dict[PartitionLedger, int] = {}
        self.unacknowledged: list[Part] = []
        self.again: list[Part] = []
        self.rewinding = False
        self.large_left = 0

    def begin(self) -> None:
        super().begin()
        self.again, self.rewinding = list(self.unacknowledged), False
        # To fill the map, free pages within the file must be used up first.
        self.large_left = self.large * (1000 if self.storage_may_fail else 1)

    def move(self) -> None:
        self.unacknowledged.clear()
        self.next_sequence.clear()

    def send_next(self) -> None:
        if self.producer_id is None:
            if not self.pending:
                self.send_request(INIT_PRODUCER_ID, 0, string(None) + struct.pack(">i", 60_000), [])
        elif not self.rewinding:
            super().send_next()

    def next_request(self) -> list[Part]:
        if self.again:
            return [self.again.pop(0)]
        topic = self.next_topic()
        index = self.chance.randrange(topic.partitions)
        ledger = topic.ledger(index)
        batch = self._next_batch((self.producer_id or 0, 0, self.next_sequence.get(ledger, 0)))
        self.next_sequence[ledger] = batch.sequence + batch.count
        part = Part(topic, index, batch)
        self.unacknowledged.append(part)
        return [part]

    def next_topic(self) -> Topic:
        return self.topics.main

    def _next_batch(self, producer: tuple[int, int, int]) -> Batch:
        if self.large_left:
            self.large_left -= 1
            return self.payload.large(producer)
        return self.payload.any(producer)

    def on_response(self, context: list[Part], response: Reader) -> None:
        if not context:
            self._producer_id_response(response)
            return
        super().on_response(context, response)
        if self.rewinding and not self.pending:
            self.again, self.rewinding = list(self.unacknowledged), False

    def accepted(self, part: Part, offset: int) -> None:
        super().accepted(part, offset)
        self.unacknowledged.remove(part)

    def _producer_id_response(self, response: Reader) -> None:
        _throttle, error, producer_id, _epoch = response.take("ihqh")
        if error == 0:
            self.topics.add_producer_id(producer_id)
            self.producer_id = producer_id
        elif not (error == LOADING and self.storage_may_fail):
            raise Broken(f"{self.name}: no producer id: error {error}")

    def refused(self, part: Part, error: int) -> None:
        if not (error == OUT_OF_ORDER and self.rewinding):
            super().refused(part, error)
        self.rewinding = True


class ShortLivedProducer(IdempotentProducer):
    """A new producer id in each run of the broker; retries nothing."""

    quota = 40

    def begin(self) -> None:
        self.move()
        self.producer_id = None
        super().begin()


class TopicHoppingProducer(ShortLivedProducer):
    """Writes to topics that are created and deleted."""

    in_flight = 2
    quota = 1_000_000

    def next_topic(self) -> Topic:
        return self.chance.choice(self.topics.others() or [self.topics.main])

    def refused(self, part: Part, error: int) -> None:
        left = part.topic.deleting or part.topic.topic_id in self.topics.gone
        if error == UNKNOWN_TOPIC and left:
            self.unacknowledged.remove(part)
        else:
            super().refused(part, error)
