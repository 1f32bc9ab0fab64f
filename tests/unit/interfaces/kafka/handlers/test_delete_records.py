from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.requests import fetch


@pytest.fixture
def kafka() -> FakeKafka:
    """Topic t with offsets 0-2 and 3-4 in the first of its two partitions."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch(["a", "b", "c"]))
    kafka.appended(record_batch(["d", "e"]))
    return kafka


def delete(client: FakeClient, *offsets: tuple[str, int, int], version: int = 2) -> Any:
    """Returns topic, partition, low watermark and error code."""
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
        for name, index, offset in offsets
    ]
    response = client.ask(DeleteRecordsRequest(topics=topics, timeout_ms=1000), version)
    return [
        (topic.name, one.partition_index, one.low_watermark, one.error_code)
        for topic in response.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", [0, 2])
def test_the_response_has_the_new_log_start(client: FakeClient, version: int) -> None:
    assert delete(client, ("t", 0, 3), ("t", 0, 4), version=version) == [("t", 0, 4, 0)]
    assert delete(client, ("t", 0, -1), version=version) == [("t", 0, 5, 0)]


def test_each_refusal_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("compacted", cleanup_policy="compact")
    refused = ("t", 0, 6), ("compacted", 0, 0), ("t", 1, -5), ("t", 9, 0), ("absent", 0, 0)
    assert sorted(delete(client, *refused)) == [
        ("absent", 0, -1, 3),
        ("compacted", 0, -1, 44),
        ("t", 0, -1, 1),
        ("t", 1, -1, 1),
        ("t", 9, -1, 3),
    ]


def test_a_failed_commit_deletes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete(client, ("t", 0, 2)) == [("t", 0, -1, 56)]
    assert kafka.partition().log_start_offset == 0


# ---- fetches see the new log start


def fetched(client: FakeClient, offset: int) -> Any:
    return client.ask(fetch(0, offset), 11).responses[0].partitions[0]


def test_offsets_below_the_log_start_are_out_of_range(client: FakeClient) -> None:
    delete(client, ("t", 0, 4))
    found = [fetched(client, offset) for offset in (0, 3, 4)]
    assert [(one.error_code, one.log_start_offset) for one in found] == [(1, -1), (1, -1), (0, 4)]
    assert found[2].records[:8] == (3).to_bytes(8, "big")


def test_a_fetch_session_returns_a_new_log_start_once(client: FakeClient) -> None:
    def ask(session_id: int, epoch: int) -> Any:
        request = fetch(0, 5)
        request.session_id, request.session_epoch = session_id, epoch
        if epoch:
            request.topics = []
        return client.ask(request, 11)

    session_id = ask(0, 0).session_id
    assert ask(session_id, 1).responses == []
    delete(client, ("t", 0, 3))
    [topic] = ask(session_id, 2).responses
    assert topic.partitions[0].log_start_offset == 3
    assert ask(session_id, 3).responses == []


def test_a_waiting_fetch_returns_when_the_log_start_moves(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(60_000, 5), 11)
    kafka.run()
    assert client.answers() == []
    delete(kafka.client(), ("t", 0, -1))
    [response] = client.answers()
    [one] = response.responses[0].partitions
    assert (one.error_code, one.log_start_offset, one.records) == (0, 5, b"")
