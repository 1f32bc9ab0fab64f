from __future__ import annotations

from typing import Any

import pytest

from application.background.runner import SLICE_NS
from application.partitions import list_offsets
from application.ports.pending import Pending
from domain.errors import StorageFailed
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for

LATEST, EARLIEST = -1, -2


def request(*partitions: tuple[int, int, int]) -> Request:
    """Partitions with timestamp and leader epoch."""
    requested = [
        {"partition_index": index, "timestamp": timestamp, "current_leader_epoch": epoch}
        for index, timestamp, epoch in partitions
    ]
    return request_for("list_offsets", topics=[{"name": "t", "partitions": requested}])


def search(client: FakeClient, version: int, *partitions: tuple[int, int, int]) -> Any:
    return found(client.request(request(*partitions), version))


def found(response: Any) -> list[tuple[int, int, int]]:
    [topic] = response.topics
    return [(one.error_code, one.offset, one.timestamp) for one in topic.partitions]


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch([("k", "v", (), TIMESTAMP + i) for i in (0, 9, 3)]))
    return kafka


def test_each_partition_has_its_own_code(kafka: FakeKafka, client: FakeClient) -> None:
    partitions = [(0, LATEST, 0), (7, LATEST, -1), (1, LATEST, 1), (-1, LATEST, -1)]
    assert [code for code, _, _ in search(client, 9, *partitions)] == [0, 3, 75, 3]
    kafka.log.failing = StorageFailed("cannot read")
    assert search(client, 9, (0, TIMESTAMP, -1))[0][0] == 56


def test_the_first_request_for_a_partition_waits_for_its_log() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.log.loading = Pending()
    kafka.log.loading_of = kafka.existing().partition_ids[1]
    client = kafka.client()
    client.send(request((0, LATEST, -1), (1, LATEST, -1)), 1)
    kafka.run()
    assert client.frames() == []
    kafka.log.load()
    kafka.run()
    assert len(client.frames()) == 1


# ---- long searches

SEARCH = (0, TIMESTAMP + 400, -1)


@pytest.fixture
def long_search(kafka: FakeKafka) -> FakeKafka:
    """Headers with wrong timestamps: SEARCH takes many passes."""
    kafka.clock.look_ns = SLICE_NS
    for _ in range(20):
        kafka.appended(record_batch(["x"], timestamp=TIMESTAMP, max_timestamp=TIMESTAMP + 1000))
    return kafka


def test_a_long_search_has_its_response_later(long_search: FakeKafka) -> None:
    long_search.appended(record_batch(["y"], timestamp=TIMESTAMP + 500))
    assert search(long_search.client(), 9, SEARCH, (1, TIMESTAMP, -1), (7, -1, -1)) == [
        (0, 23, TIMESTAMP + 500),
        (0, -1, -1),
        (3, -1, -1),
    ]


def test_a_fault_in_a_long_search_closes_its_connection_and_no_other(
    long_search: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = [long_search.client() for _ in range(3)]
    for client in clients:
        client.send(request(SEARCH), 9)
    faults = [RuntimeError("a fault")]
    batch_at = list_offsets.batch_at

    def faulty(*where: Any) -> Any:
        if faults:
            raise faults.pop()
        return batch_at(*where)

    monkeypatch.setattr(list_offsets, "batch_at", faulty)
    long_search.run()
    assert [client.closed for client in clients] == [True, False, False]
    assert [len(client.responses()) for client in clients] == [0, 1, 1]
    failures = long_search.events.of("request_failed")
    assert [str(line["error"]) for line in failures] == ["a fault"]


def test_a_partition_that_is_deleted_during_a_search_is_unknown(long_search: FakeKafka) -> None:
    client = long_search.client()
    client.send(request(SEARCH), 9)
    long_search.broker.topics.delete_topics.delete([long_search.existing()])
    long_search.run()
    assert [found(response) for response in client.responses()] == [[(3, -1, -1)]]
