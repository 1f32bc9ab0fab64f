from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("a", 2)
    kafka.topic("b")
    kafka.appended(record_batch(["x", "y"]), "a", 1)
    return kafka


def request(*topics: tuple[str, list[int]]) -> Request:
    return request_for(
        "describe_log_dirs", topics=[{"topic": name, "partitions": them} for name, them in topics]
    )


def sizes(response: Any) -> list[tuple[str, int, int]]:
    [result] = response.results
    return [
        (topic.name, one.partition_index, one.partition_size)
        for topic in result.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", [1, 4])
def test_the_response_has_the_size_of_each_existing_partition(
    client: FakeClient, version: int
) -> None:
    size_bytes = len(record_batch(["x", "y"]))
    every = client.request(request_for("describe_log_dirs", topics=None), version)
    assert sizes(every) == [("a", 0, 0), ("a", 1, size_bytes), ("b", 0, 0)]
    [result] = every.results
    assert (result.error_code, result.log_dir) == (0, "memory")
    partition = result.topics[0].partitions[1]
    assert (partition.offset_lag, partition.is_future_key) == (0, False)
    some = client.request(request(("a", [1, 7]), ("absent", [0]), ("b", [-1])), version)
    assert sizes(some) == [("a", 1, size_bytes)]
    assert sizes(client.request(request(), version)) == []
