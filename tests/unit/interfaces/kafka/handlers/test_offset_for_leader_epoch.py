from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch(["a", "b", "c"]))
    return kafka


def epochs(
    client: FakeClient, *partitions: tuple[int, int, int], version: int = 4
) -> list[tuple[int, int, int, int]]:
    """Partitions with the current and the requested epoch; returns code, index, epoch, end."""
    requested = [
        {"partition": index, "current_leader_epoch": current, "leader_epoch": epoch}
        for index, current, epoch in partitions
    ]
    topics = [{"topic": "t", "partitions": requested}]
    [found] = client.request(request_for("offset_for_leader_epoch", topics=topics), version).topics
    assert found.topic == "t"
    return [
        (one.error_code, one.partition, one.leader_epoch, one.end_offset)
        for one in found.partitions
    ]


def test_each_partition_has_its_own_code(kafka: FakeKafka, client: FakeClient) -> None:
    refused = (0, 1, 0), (0, -2, 0), (7, -1, 0)
    assert epochs(client, *refused) == [(75, 0, -1, -1), (74, 0, -1, -1), (3, 7, -1, -1)]
    kafka.partition(index=0)
    kafka.log.failing = StorageFailed("cannot read")
    assert [one[0] for one in epochs(client, (0, 0, 0), (1, 0, 0))] == [0, 56]


def test_the_end_is_that_of_durable_records(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    kafka.append(record_batch(["d"]))
    kafka.run()
    assert epochs(client, (0, 0, 0)) == [(0, 0, 0, 3)]
    kafka.commit.let_go()
    assert epochs(client, (0, 0, 0)) == [(0, 0, 0, 4)]


def test_without_a_lease_the_next_leader_may_have_another_end(
    kafka: FakeKafka, client: FakeClient
) -> None:
    assert epochs(client, (0, 0, 0)) == [(0, 0, 0, 3)]
    kafka.placement.has_lease = False
    assert epochs(client, (0, 0, 0), (0, 1, 0)) == [(6, 0, -1, -1), (75, 0, -1, -1)]
