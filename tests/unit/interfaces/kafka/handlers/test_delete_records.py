from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.requests import fetch
from tests.fakes.structs import request_for


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
        {"name": name, "partitions": [{"partition_index": index, "offset": offset}]}
        for name, index, offset in offsets
    ]
    response = client.request(
        request_for("delete_records", topics=topics, timeout_ms=1000), version
    )
    return [
        (topic.name, one.partition_index, one.low_watermark, one.error_code)
        for topic in response.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", [0, 2])
def test_the_response_has_the_new_log_start(client: FakeClient, version: int) -> None:
    assert delete(client, ("t", 0, 3), ("t", 0, 4), version=version) == [("t", 0, 4, 0)]
    assert delete(client, ("t", 0, -1), version=version) == [("t", 0, 5, 0)]


def test_a_failed_commit_deletes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete(client, ("t", 0, 2)) == [("t", 0, -1, 56)]
    assert kafka.partition().log_start_offset == 0


# ---- fetches see the new log start


def test_a_waiting_fetch_returns_when_the_log_start_moves(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(60_000, 5), 11)
    kafka.run()
    assert client.responses() == []
    delete(kafka.client(), ("t", 0, -1))
    [response] = client.responses()
    [one] = response.responses[0].partitions
    assert (one.error_code, one.log_start_offset, one.records) == (0, 5, b"")
