"""A request that is recognised gets, byte for byte, the response it would get the ordinary way, and
counts as much.

Two brokers get the same requests; one of them forgets after each request what it could recognise.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from application.configs.alter import RequestedConfigs
from application.topics.create import NewTopic
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.errors import StorageFailed
from interfaces.kafka.requests import repeated_produce
from interfaces.kafka.requests.apis import PRODUCE
from interfaces.kafka.requests.call import Route
from interfaces.kafka.requests.repeated_produce import RepeatedProduce
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.primitives import write_uvarint
from tests.fakes.batches import ZSTD, record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame, raw_frame
from tests.fakes.requests import fetch, metadata

VERSIONS = range(3, 14)
FIRST_FLEXIBLE = 9
FIRST_WITH_TOPIC_IDS = 13
ID_IN_THE_TEST = bytes(range(16))

Batch = Callable[[], bytearray]

_VALUES = (
    ("max.message.bytes", "message.max.bytes", ("100", "300", "30000")),
    ("message.timestamp.type", "log.message.timestamp.type", ("CreateTime", "LogAppendTime")),
    ("cleanup.policy", "log.cleanup.policy", ("compact", "delete")),
    (
        "message.timestamp.before.max.ms",
        "log.message.timestamp.before.max.ms",
        ("1000", "9223372036854775807"),
    ),
)
#: For all brokers, and for a topic.
CONFIGS = (
    [(setting, texts) for _, setting, texts in _VALUES],
    [(config, texts) for config, _, texts in _VALUES],
)


class Side:
    def __init__(self, recognises: bool) -> None:
        self.kafka = FakeKafka(num_partitions="3")
        self.recognises = recognises
        self.clients = [self.kafka.client() for _ in range(2)]
        self.kafka.topic("t", 3)
        self.drawn_ids: set[bytes] = set()

    def tell(self, which: int, request: bytes) -> None:
        if self.clients[which].closed:
            self.clients[which] = self.kafka.client()
        self.clients[which].transport.receive(request)
        if not self.recognises:
            for route in self.routes():
                route.repeated.clear()

    def fail_reads_too(self) -> None:
        """The next commit fails, and its partitions are unreadable until they are used."""
        self.kafka.commit.fail_next()
        self.kafka.log.failing = StorageFailed("the disk is gone")

    def hold_or_let_go(self) -> None:
        commit = self.kafka.commit
        if commit.holding and commit.under_way:
            commit.let_go()
        else:
            commit.holding = not commit.holding

    def routes(self) -> list[Route]:
        return list(self.kafka.shared.dispatch._routes.made.values())

    def topic_id(self) -> bytes:
        """The brokers generate different ids."""
        topic = self.kafka.broker.catalog.topic("t")
        if topic is not None:
            self.drawn_ids.add(topic.topic_id)
        return topic.topic_id if topic else bytes(16)

    def heard(self) -> list[tuple[bool, list[bytes]]]:
        self.kafka.run()
        self.topic_id()
        return [
            (client.closed, [self.plain(one) for one in client.frames()]) for client in self.clients
        ]

    def counted(self) -> list[tuple[int, int]]:
        catalog = self.kafka.broker.catalog
        traffic = [partition.traffic for partition in catalog.loaded()]
        return [(one.appends, one.failed_appends) for one in traffic]

    def plain(self, response: bytes) -> bytes:
        for drawn in self.drawn_ids:
            response = response.replace(drawn, ID_IN_THE_TEST)
        return response


class Story:
    """Requests of a seed, most of them like the previous one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.version = self.random.choice(VERSIONS)
        self.sequences = [0, 0, 0]
        self.correlation_id = 0

    def batch(self, index: int) -> bytearray:
        chance = self.random.random()
        values = ["x" * self.random.choice((1, 30, 200, 20_000))]
        if chance < 0.3:
            sequence = self.sequences[index]
            self.sequences[index] += 1
            if self.random.random() < 0.3:
                sequence = max(0, sequence + self.random.choice((-1, -1, 1)))
            return record_batch(["same"], producer_id=7 + index, epoch=0, sequence=sequence)
        if chance < 0.35:
            broken = record_batch(values)
            broken[-1] ^= 1
            return broken
        if chance < 0.4:
            return record_batch(values, count=5)
        if chance < 0.43:
            return record_batch(values) + record_batch(values)
        if chance < 0.46:
            return record_batch(values, timestamp=1 << 60)
        if chance < 0.49:
            return record_batch(values, codec=ZSTD)
        return record_batch(values)

    def produce(self) -> Callable[[Side], bytes]:
        if self.random.random() < 0.05:
            self.version = self.random.choice(VERSIONS)
        version = self.version
        acks = self.random.choice((-1, -1, -1, -1, 1, 1, 0, 2)) if self.rarely() else -1
        index = self.random.choice((0, 0, 0, 1, 2, 3))
        data = [PartitionProduceData(index=index, records=memoryview(self.batch(index % 3)))]
        if self.rarely():
            data.append(PartitionProduceData(index=1, records=memoryview(self.batch(1))))
        if self.rarely():
            data[0].records = None
        name = "absent" if self.rarely() else "t"
        transactional_id = "tx" if self.rarely() else None
        client_id = self.random.choice(("a", "a", "a", "b", None))
        cut = self.random.choice((-3, -1, 1, 3)) if self.rarely() else 0
        lie = self.random.choice((-5, -1, 1, 5)) if self.rarely() else 0
        self.correlation_id += 1
        correlation_id = self.correlation_id

        def request(side: Side) -> bytes:
            topic = TopicProduceData(partition_data=data)
            if version >= FIRST_WITH_TOPIC_IDS:
                topic.topic_id = side.topic_id()
            else:
                topic.name = name
            message = ProduceRequest(acks=acks, topic_data=[topic])
            if version >= 3:
                message.transactional_id = transactional_id
            body = b"".join(message.encode(version))
            body = lie_about_the_size(body, data[0].records, version, lie)
            body = body[:cut] if cut < 0 else body + b"\1" * cut
            return raw_frame(
                PRODUCE, version, body, correlation_id, client_id, message.is_flexible(version)
            )

        return request

    def alter(self) -> Callable[[Side], object]:
        """Configs of the topic, or of all brokers, which are its defaults."""
        of_topic = self.random.random() < 0.6
        name, texts = self.random.choice(CONFIGS[of_topic])
        operation = self.random.choice((Operation.SET, Operation.SET, Operation.DELETE))
        alteration = Alteration(name, operation, self.random.choice(texts))
        resource = Resource(ResourceKind.TOPIC, "t") if of_topic else ALL_BROKERS
        altered = [RequestedConfigs(resource, [alteration])]
        return lambda side: side.kafka.broker.configs.alter_configs.alter(
            altered, validate_only=False
        )

    def rarely(self) -> bool:
        return self.random.random() < 0.06

    def step(self) -> Callable[[Side], object]:
        chance = self.random.random()
        which = self.random.choice((0, 0, 1))
        if chance < 0.02:
            return self.alter()
        if chance < 0.9:
            requests = [self.produce() for _ in range(self.random.choice((1, 1, 2, 5)))]
            return lambda side: [side.tell(which, request(side)) for request in requests]
        if chance < 0.93:
            return lambda side: side.kafka.commit.fail_next()
        if chance < 0.94:
            return lambda side: side.fail_reads_too()
        if chance < 0.955:
            return lambda side: side.tell(which, frame(fetch(0), 12, 1))
        if chance < 0.965:
            delete = frame(DeleteTopicsRequest(topic_names=["t"]), 5, 2)
            return lambda side: (side.tell(which, delete), side.kafka.run())
        if chance < 0.985:
            return lambda side: side.kafka.broker.topics.create_topics.create(
                [NewTopic("t", 3)], False
            )
        if chance < 0.995:
            return lambda side: side.hold_or_let_go()
        return lambda side: side.tell(which, frame(metadata("t"), 1, 3))


def lie_about_the_size(body: bytes, records: object, version: int, lie: int) -> bytes:
    """In the field before the records."""
    if not lie or not isinstance(records, memoryview):
        return body
    size_bytes = len(records)
    at = body.index(bytes(records))
    if version < FIRST_FLEXIBLE:
        return body[: at - 4] + struct.pack(">i", size_bytes + lie) + body[at:]
    right, wrong = write_uvarint(size_bytes + 1), write_uvarint(size_bytes + 1 + lie)
    return body[: at - len(right)] + wrong + body[at:]


@pytest.mark.parametrize("seed", range(60))
def test_whether_a_request_is_recognised_makes_no_difference(seed: int) -> None:
    story = Story(seed)
    sides = [Side(recognises=True), Side(recognises=False)]
    for _ in range(120):
        step = story.step()
        for side in sides:
            step(side)
        recognised, ordinary = (side.heard() for side in sides)
        if story.random.random() < 0.3:
            for side in sides:
                side.kafka.log.failing = None
        assert recognised == ordinary
        assert sides[0].counted() == sides[1].counted()
    assert sides[0].kafka.store.partitions.keys() == sides[1].kafka.store.partitions.keys()
    for partition_id, partition in sides[0].kafka.store.partitions.items():
        assert partition.batches == sides[1].kafka.store.partitions[partition_id].batches


def produce(name: str = "t", client_id: str = "a", value: str = "v") -> bytes:
    data = PartitionProduceData(index=0, records=memoryview(record_batch([value])))
    topic = TopicProduceData(name=name, partition_data=[data])
    return frame(ProduceRequest(acks=-1, topic_data=[topic]), 9, 1, client_id)


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each recognised request, whether it needed no other handling."""
    outcomes: list[bool] = []
    ordinary = RepeatedProduce.begin

    def begin(self: RepeatedProduce, frame: memoryview, call: object) -> bool:
        outcomes.append(ordinary(self, frame, call))  # type: ignore[arg-type]
        return outcomes[-1]

    monkeypatch.setattr(RepeatedProduce, "begin", begin)
    return outcomes


def exchange(kafka: FakeKafka, client: FakeClient, request: bytes) -> bytes:
    client.transport.receive(request)
    kafka.run()
    [response] = client.frames()
    return response


def test_the_second_request_is_recognised_on_every_connection(outcomes: list[bool]) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    clients = [kafka.client(), kafka.client()]
    for client in clients * 3:
        exchange(kafka, client, produce())
    assert outcomes == [True] * 4


def test_another_client_id_is_another_client(outcomes: list[bool]) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    first, second = kafka.client(), kafka.client()
    exchange(kafka, first, produce(client_id="a"))
    exchange(kafka, second, produce(client_id="b"))
    exchange(kafka, second, produce(client_id="a"))
    assert outcomes == [False]
    assert second.session.client.client_id == "a"


def test_a_deleted_topic_is_not_recognised(outcomes: list[bool]) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    client = kafka.client()
    first = exchange(kafka, client, produce())
    assert exchange(kafka, client, frame(DeleteTopicsRequest(topic_names=["t"]), 5, 1))
    assert exchange(kafka, client, produce()) != first
    assert outcomes == [False]


@pytest.mark.parametrize(
    "resource, name",
    [
        (Resource(ResourceKind.TOPIC, "t"), "max.message.bytes"),
        (ALL_BROKERS, "message.max.bytes"),
    ],
)
def test_a_recognised_request_is_checked_by_altered_configs(
    outcomes: list[bool], resource: Resource, name: str
) -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    client = kafka.client()
    exchange(kafka, client, produce())
    good = exchange(kafka, client, produce())
    altered = RequestedConfigs(resource, [Alteration(name, Operation.SET, "10")])
    kafka.broker.configs.alter_configs.alter([altered], validate_only=False)
    kafka.run()
    for _ in range(2):
        assert len(exchange(kafka, client, produce())) != len(good)
    assert outcomes == [True, False, False]


def route_of(kafka: FakeKafka) -> Route:
    route = kafka.shared.dispatch._routes.find(PRODUCE, 9)
    assert route is not None
    return route


def test_the_number_of_recognised_requests_is_limited(
    monkeypatch: pytest.MonkeyPatch, outcomes: list[bool]
) -> None:
    monkeypatch.setattr(repeated_produce, "MAX_REPEATED", 3)
    kafka = FakeKafka()
    client = kafka.client()
    for count in range(5):
        kafka.topic(f"t{count}")
    for count in [0, 1, 2, 3, 4, 0, 3]:
        exchange(kafka, client, produce(f"t{count}"))
    assert len(route_of(kafka).repeated) == 3
    assert outcomes == [True]


def test_a_change_of_topics_clears_the_recognised_requests() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.topic("other")
    client = kafka.client()
    exchange(kafka, client, produce("t"))
    exchange(kafka, client, produce("other"))
    exchange(kafka, client, frame(DeleteTopicsRequest(topic_names=["t"]), 5, 1))
    exchange(kafka, client, produce("other"))
    assert len(route_of(kafka).repeated) == 1


def test_a_request_is_learnt_once_also_between_others() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.topic("longer")
    client = kafka.client()
    exchange(kafka, client, produce("t"))
    exchange(kafka, client, produce("longer"))
    learnt = dict(route_of(kafka).repeated)
    for _ in range(3):
        exchange(kafka, client, produce("t"))
        exchange(kafka, client, produce("longer"))
    assert all(learnt[key] is one for key, one in route_of(kafka).repeated.items())


def test_a_fault_while_learning_is_logged_only() -> None:
    kafka = FakeKafka()
    kafka.topic("t")
    client = kafka.client()
    exchange(kafka, client, frame(metadata("t"), 9, 1))

    def learn(*_: object) -> None:
        raise RuntimeError("out of mind")

    route_of(kafka).cache_request = learn
    first, second = exchange(kafka, client, produce()), exchange(kafka, client, produce())
    assert len(first) == len(second)
    assert len(kafka.events.of("request_failed")) == 2
