from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import SLICE_NS
from application.partitions import list_offsets
from application.ports.pending import Pending
from domain.errors import StorageFailed
from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.client import FakeClient, FakeKafka


def ask(
    client: FakeClient, version: int, *wanted: tuple[int, int, int], name: str = "t"
) -> list[Any]:
    """`wanted` are partition, timestamp and leader epoch."""
    partitions = [
        ListOffsetsPartition(partition_index=index, timestamp=timestamp, current_leader_epoch=epoch)
        for index, timestamp, epoch in wanted
    ]
    topics = [ListOffsetsTopic(name=name, partitions=partitions)]
    response = client.ask(ListOffsetsRequest(replica_id=-1, topics=topics), version)
    found: list[Any] = response.topics[0].partitions
    return found


def one(client: FakeClient, version: int, timestamp: int, epoch: int = -1) -> tuple[int, int, int]:
    (found,) = ask(client, version, (0, timestamp, epoch))
    return found.error_code, found.offset, found.timestamp


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch([("k", "v", (), TIMESTAMP + i) for i in (0, 9, 3)]))
    return kafka


@pytest.mark.parametrize("version", range(1, 12))
def test_the_ends_and_times_are_found_in_every_version(client: FakeClient, version: int) -> None:
    assert one(client, version, -1) == (0, 3, -1)
    assert one(client, version, -2) == (0, 0, -1)
    assert one(client, version, TIMESTAMP + 1) == (0, 1, TIMESTAMP + 9)
    assert one(client, version, TIMESTAMP + 10) == (0, -1, -1)
    (found,) = ask(client, version, (0, -1, -1))
    assert found.leader_epoch == (0 if version >= 4 else -1)


def test_the_first_use_of_partitions_waits_for_their_logs() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.log.loading = Pending()
    kafka.log.loading_of = kafka.existing().partition_ids[1]
    client = kafka.client()
    partitions = [ListOffsetsPartition(partition_index=i, timestamp=-1) for i in (0, 1)]
    topics = [ListOffsetsTopic(name="t", partitions=partitions)]
    client.send(ListOffsetsRequest(replica_id=-1, topics=topics), 1)
    kafka.run()
    assert client.frames() == []
    kafka.log.load()
    kafka.run()
    assert len(client.frames()) == 1


@pytest.mark.parametrize(
    ("timestamp", "first", "offset", "found_ms"),
    [(-3, 7, 1, TIMESTAMP + 9), (-4, 8, 0, -1), (-5, 9, -1, -1), (-6, 11, -1, -1)],
)
def test_special_timestamps_are_known_from_their_version_on(
    client: FakeClient, timestamp: int, first: int, offset: int, found_ms: int
) -> None:
    for version in range(1, 12):
        expected = (0, offset, found_ms) if version >= first else (35, -1, -1)
        assert one(client, version, timestamp) == expected


@pytest.mark.parametrize("timestamp", [-7, -(2**63)])
def test_other_negative_timestamps_are_unknown(client: FakeClient, timestamp: int) -> None:
    assert one(client, 11, timestamp)[0] == 35


def test_each_refusal_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    found = ask(client, 9, (0, -1, 0), (7, -1, -1), (1, -1, 1), (-1, -1, -1))
    assert [one.error_code for one in found] == [0, 3, 75, 3]
    assert ask(client, 9, (0, -1, -2))[0].error_code == 74
    assert ask(client, 9, (0, -1, -1), name="nope")[0].error_code == 3
    kafka.log.failing = StorageFailed("cannot read")
    assert ask(client, 9, (0, TIMESTAMP, -1))[0].error_code == 56


def test_a_partition_that_is_asked_for_twice_contradicts_itself(client: FakeClient) -> None:
    found = ask(client, 9, (0, -1, -1), (1, -1, -1), (0, -2, -1))
    assert sorted((one.partition_index, one.error_code) for one in found) == [(0, 42), (1, 0)]


def test_a_search_that_takes_longer_is_answered_later(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.clock.look_ns = SLICE_NS
    false = record_batch(["x"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 1000)
    for _ in range(20):
        kafka.appended(false)
    kafka.appended(record_batch(["y"], timestamp=TIMESTAMP + 500))
    found = ask(client, 9, (0, TIMESTAMP + 400, -1), (1, TIMESTAMP, -1), (7, -1, -1))
    assert [(one.error_code, one.offset, one.timestamp) for one in found] == [
        (0, 23, TIMESTAMP + 500),
        (0, -1, -1),
        (3, -1, -1),
    ]


@pytest.fixture
def lied_to(kafka: FakeKafka) -> FakeKafka:
    """A log in which every search for a later moment takes many passes."""
    kafka.clock.look_ns = SLICE_NS
    false = record_batch(["x"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 1000)
    for _ in range(20):
        kafka.appended(false)
    return kafka


def later(version: int = 9) -> tuple[ListOffsetsRequest, int]:
    wanted = [ListOffsetsPartition(partition_index=0, timestamp=TIMESTAMP + 400)]
    return ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=wanted)]), version


def test_a_fault_in_a_long_search_ends_its_connection_and_no_other(
    lied_to: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = [lied_to.client() for _ in range(3)]
    for client in clients:
        client.send(*later())
    faults = [RuntimeError("nobody foresaw this")]
    batch_at = list_offsets.batch_at

    def faulty(*where: Any) -> Any:
        if faults:
            raise faults.pop()
        return batch_at(*where)

    monkeypatch.setattr(list_offsets, "batch_at", faulty)
    lied_to.run()
    assert [client.closed for client in clients] == [True, False, False]
    assert [len(client.answers()) for client in clients] == [0, 1, 1]
    failures = lied_to.events.of("request_failed")
    assert [str(line["error"]) for line in failures] == ["nobody foresaw this"]


def test_a_partition_that_is_deleted_during_a_search_is_unknown(lied_to: FakeKafka) -> None:
    client = lied_to.client()
    client.send(*later())
    lied_to.broker.topics.delete_topics.delete([lied_to.existing()])
    lied_to.run()
    [answer] = client.answers()
    [found] = answer.topics[0].partitions
    assert (found.error_code, found.offset, found.timestamp) == (3, -1, -1)
