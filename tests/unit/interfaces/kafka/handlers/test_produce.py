"""Produce as a client sees it; the checks of batches are in test_produce of the application."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from application.partitions.produce import OPENING_NS_OF_A_COMMIT
from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.errors import RequestTimedOut, StorageFailed
from domain.topics.topic import Topic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame
from tests.fakes.copies import FakeCopies

NOT_ENOUGH_REPLICAS = 19
Batches = dict[int, bytes | bytearray | None]


def request(
    batches: Batches,
    acks: int = -1,
    name: str = "t",
    topic_id: bytes = bytes(16),
    transactional_id: str | None = None,
) -> ProduceRequest:
    partitions = [
        PartitionProduceData(index=index, records=None if data is None else memoryview(bytes(data)))
        for index, data in batches.items()
    ]
    topic = TopicProduceData(name=name, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(acks=acks, transactional_id=transactional_id, topic_data=[topic])


def partitions(response: Any) -> dict[int, PartitionProduceResponse]:
    (topic,) = response.responses
    return {one.index: one for one in topic.partition_responses}


def one(client: FakeClient, batch: bytes | bytearray | None, version: int = 9, **facts: Any) -> Any:
    return partitions(client.request(request({0: batch}, **facts), version))[0]


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- accepted batches


@pytest.mark.parametrize("acks", [-1, 1])
def test_the_response_comes_with_the_commit_and_has_the_offset(
    kafka: FakeKafka, client: FakeClient, acks: int
) -> None:
    kafka.appended(record_batch(["a", "b"]))
    kafka.commit.hold()
    client.send(request({0: record_batch(["c"])}, acks), 9)
    kafka.run()
    assert client.responses() == []
    kafka.commit.let_go()
    kafka.run()
    response = partitions(client.responses()[0])[0]
    assert (response.error_code, response.base_offset) == (0, 2)
    assert (response.log_append_time_ms, response.log_start_offset) == (-1, 0)
    assert (response.record_errors, response.error_message) == ([], None)


def test_the_response_has_the_log_append_time(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("stamped", message_timestamp_type="LogAppendTime")
    kafka.clock.advance(4)
    response = one(client, record_batch(["a"]), name="stamped")
    assert response.log_append_time_ms == TIMESTAMP + 4


def test_each_partition_has_its_own_error_code(kafka: FakeKafka, client: FakeClient) -> None:
    batches: Batches = {1: record_batch(["a"]), 7: record_batch(["b"]), 0: None, -1: b""}
    response = partitions(client.request(request(batches), 9))
    assert {index: one.error_code for index, one in response.items()} == {1: 0, 7: 3, 0: 87, -1: 3}
    refused = response[7]
    assert refused.base_offset == refused.log_append_time_ms == refused.log_start_offset == -1
    assert kafka.partition(index=1).high_watermark == 1
    assert client.request(ProduceRequest(acks=-1, topic_data=[]), 9).responses == []


def test_a_duplicate_waits_for_the_commit_of_the_original_and_needs_none_later(
    kafka: FakeKafka, client: FakeClient
) -> None:
    other, batch = kafka.client(), record_batch(["a"], producer_id=4, epoch=0, sequence=0)
    kafka.appended(record_batch(["before"]))
    kafka.commit.hold()
    for each in (client, other):
        each.send(request({0: batch}), 9)
        kafka.run()
    assert other.responses() == []
    kafka.commit.let_go()
    kafka.run()
    commits = kafka.commit.count
    responses = [*client.responses(), *other.responses(), client.request(request({0: batch}), 9)]
    found = [partitions(each)[0] for each in responses]
    assert [(each.error_code, each.base_offset) for each in found] == [(0, 1)] * 3
    assert kafka.commit.count == commits


# ---- error codes


@pytest.mark.parametrize("version", [3, 12, 13])
def test_records_for_an_internal_topic_are_refused(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Also where an earlier release created it as an ordinary topic."""
    facts: dict[str, Any] = {"name": "__consumer_offsets", "topic_id": b"\7" * 16}
    if version < 13:
        assert one(client, record_batch(["a"]), version, **facts).error_code == 17
    kafka.broker.catalog.put(Topic(facts["name"], facts["topic_id"], (77,), {}))
    assert one(client, record_batch(["a"]), version, **facts).error_code == 17


def test_a_store_that_cannot_be_read_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.log.failing = StorageFailed("cannot read")
    assert one(client, record_batch(["a"])).error_code == 56


def test_a_failed_commit_is_code_56_for_the_partitions_in_it(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next("no space left")
    batches: Batches = {0: record_batch(["a"]), 9: record_batch(["b"])}
    response = partitions(client.request(request(batches), 9))
    assert [response[index].error_code for index in (0, 9)] == [56, 3]
    assert (response[0].base_offset, response[0].error_message) == (-1, "no space left")
    assert one(client, record_batch(["again"])).base_offset == 0


# ---- acks=0


def test_without_acks_there_is_no_response_and_the_batches_are_stored(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(request({0: record_batch(["a"]), 1: record_batch(["b"])}, acks=0), 9)
    kafka.run()
    assert (client.frames(), client.closed) == ([], False)
    assert [kafka.partition(index=index).high_watermark for index in (0, 1)] == [1, 1]


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({1: None}, 87),
        ({9: record_batch(["a"])}, 3),
        ({1: record_batch(["a"], transactional=True, producer_id=1, epoch=0, sequence=0)}, 53),
    ],
)
def test_without_acks_a_refusal_closes_the_connection_and_valid_batches_are_stored(
    kafka: FakeKafka,
    client: FakeClient,
    bad: Batches,
    code: int,
) -> None:
    batches: Batches = {0: record_batch(["good"]), **bad}
    client.send(request(batches, acks=0), 9)
    kafka.run()
    assert (client.frames(), client.closed) == ([], True)
    (line,) = kafka.events.of("connection_closed")
    assert line["reason"] == "produce_failed"
    assert str(line["detail"]).endswith(f" {code}")
    assert kafka.partition().high_watermark == 1


# ---- partitions that are not in memory


@pytest.fixture
def cold(kafka: FakeKafka) -> FakeKafka:
    """The log of topic `cold` is not in memory."""
    kafka.topic("cold")
    kafka.log.loading = Pending()
    kafka.log.loading_of = kafka.existing("cold").partition_ids[0]
    return kafka


def test_the_first_request_for_a_partition_waits_for_its_log_and_order_is_preserved(
    cold: FakeKafka,
) -> None:
    client, other = cold.client(), cold.client()
    requests = [
        request({0: record_batch(["first"])}, name="cold"),
        request({0: record_batch(["second"])}),
        request({0: record_batch(["third"])}, name="cold"),
    ]
    client.transport.send(b"".join(frame(each, 9) for each in requests))
    cold.run()
    assert client.frames() == [] and client.session.connection.in_flight == 3
    assert one(other, record_batch(["other"])).error_code == 0
    cold.log.load()
    cold.run()
    assert len(client.frames()) == 3
    assert cold.partition("cold").high_watermark == 2
    assert cold.shared.memory.used_bytes == 0


def test_a_requeued_request_ends_with_its_connection(cold: FakeKafka) -> None:
    client = cold.client()
    client.send(request({0: record_batch(["x" * 200_000])}, name="cold"), 9)
    cold.run()
    assert cold.shared.memory.used_bytes > 200_000
    client.session.connection_lost(None)
    cold.log.load()
    cold.run()
    assert cold.shared.memory.used_bytes == 0
    assert cold.partition("cold").high_watermark == 0


# ---- batches that are opened


@pytest.fixture
def compacted(kafka: FakeKafka) -> FakeKafka:
    """To open a batch of topic `compacted` takes the time of a commit."""
    kafka.topic("compacted", 2, cleanup_policy="compact")
    kafka.clock.look_ns = OPENING_NS_OF_A_COMMIT
    return kafka


KEYED = record_batch([("key", "value", (), TIMESTAMP)])


def test_further_requests_whose_batches_are_opened_wait_for_the_next_commit(
    compacted: FakeKafka,
) -> None:
    clients, other = [compacted.client() for _ in range(3)], compacted.client()
    partition = compacted.partition("compacted")
    for staged in (1, 4):  # the second time the requests are repeats
        for client in clients:
            client.send(request({0: KEYED}, name="compacted"), 9)
        other.send(request({0: record_batch(["other"])}), 9)
        assert (partition.end.next_offset, partition.traffic.appends) == (staged, staged)
        assert compacted.partition().end.next_offset == staged // 3 + 1
        compacted.run()
        offsets = [partitions(*client.responses())[0].base_offset for client in clients]
        assert offsets == [staged - 1, staged, staged + 1]


def test_a_request_with_several_batches_that_are_opened_shares_a_commit(
    compacted: FakeKafka, client: FakeClient
) -> None:
    client.send(request({0: KEYED, 1: KEYED}, name="compacted"), 9)
    for index in range(2):
        assert compacted.partition("compacted", index).end.next_offset == 1
    compacted.run()
    [response] = client.responses()
    assert [one.error_code for one in partitions(response).values()] == [0, 0]


# ---- a commit that takes long


LARGE = record_batch(["x" * 100_000])


def test_what_is_staged_for_a_commit_is_bounded(
    kafka: FakeKafka, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.partitions.produce.MOST_STAGED_BYTES", 2 * len(LARGE))
    other = kafka.client()
    end, batches = kafka.partition().end, request({0: LARGE, 1: record_batch(["small"])})
    kafka.commit.hold()
    for each in (client, other):
        each.transport.send(frame(batches, 9) * 5)
        kafka.run()
        assert end.next_offset == 4  # two in the commit under way, and two for the next one
    kafka.commit.let_go()
    kafka.run()
    assert len(client.frames()) == len(other.frames()) == 5
    assert end.next_offset == kafka.partition(index=1).end.next_offset == 10


def test_a_client_that_waits_for_room_is_forgotten_when_it_disconnects(
    kafka: FakeKafka, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.partitions.produce.MOST_STAGED_BYTES", 1)
    kafka.commit.hold()
    for _ in ("under way", "staged"):
        client.transport.send(frame(request({0: LARGE}), 9))
        kafka.run()
    parked = kafka.client()
    parked.transport.send(frame(request({0: LARGE}), 9) + b"\0")
    kafka.run()
    assert parked.session.loads
    session = weakref.ref(parked.session)
    parked.transport.drop()
    kafka.run()
    del parked
    gc.collect()
    assert session() is None


def test_what_cannot_wait_for_room_is_refused_at_twice_the_bound(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.partitions.produce.MOST_STAGED_BYTES", len(LARGE))
    partition, produce = kafka.partition(), kafka.broker.messages.produce
    outcomes = [
        produce.append(partition, memoryview(bytearray(LARGE)), True, waits=False) for _ in range(4)
    ]
    assert [isinstance(one, RequestTimedOut) for one in outcomes] == [False, False, False, True]
    assert partition.end.next_offset == partition.traffic.appends == 3
    with pytest.raises(NotInMemory):
        produce.check_room()


@pytest.mark.parametrize("ends", ["let_go", "let_fail"])
def test_the_bound_is_for_each_commit(
    kafka: FakeKafka, client: FakeClient, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.partitions.produce.MOST_STAGED_BYTES", 1)
    kafka.commit.hold()
    for each in (client, kafka.client()):
        each.transport.send(frame(request({0: LARGE}), 9))
        kafka.run()
    getattr(kafka.commit, ends)()
    kafka.run()
    assert one(kafka.client(), LARGE).error_code == 0
    assert kafka.partition().high_watermark == (3 if ends == "let_go" else 1)


# ---- copies


def test_acks_all_needs_as_many_copies_as_min_insync_replicas() -> None:
    copies = FakeCopies(2)
    kafka = FakeKafka(copies=copies)
    kafka.topic("t", min_insync_replicas="2")
    client = kafka.client()
    for _ in range(3):  # also when the request is recognised
        assert one(client, record_batch(["a"])).error_code == 0
        assert one(client, record_batch(["a"]), acks=1).error_code == 0
    copies.count = 1
    refused = one(client, record_batch(["a"]))
    assert (refused.error_code, refused.base_offset) == (NOT_ENOUGH_REPLICAS, -1)
    assert one(client, record_batch(["a"]), acks=1).base_offset == 6
    client.send(request({0: record_batch(["a"])}, acks=0), 9)
    kafka.run()
    assert (client.closed, kafka.partition().high_watermark) == (False, 8)
    copies.count = 2
    assert one(client, record_batch(["a"])).base_offset == 8
