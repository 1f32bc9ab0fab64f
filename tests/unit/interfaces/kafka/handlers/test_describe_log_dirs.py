from __future__ import annotations

from typing import Any

import pytest

from application.partitions.log_dirs import LogDirsService
from interfaces.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("a", 2)
    kafka.topic("b")
    kafka.appended(record_batch(["x", "y"]), "a", 1)
    return kafka


def asked(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(
        topics=[DescribableLogDirTopic(topic=name, partitions=them) for name, them in topics]
    )


def sizes(answer: Any) -> list[tuple[str, int, int]]:
    [result] = answer.results
    return [
        (topic.name, one.partition_index, one.partition_size)
        for topic in result.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", range(1, 5))
def test_each_partition_has_its_size(client: FakeClient, version: int) -> None:
    size_bytes = len(record_batch(["x", "y"]))
    every = client.ask(DescribeLogDirsRequest(topics=None), version)
    assert sizes(every) == [("a", 0, 0), ("a", 1, size_bytes), ("b", 0, 0)]
    [result] = every.results
    assert (result.error_code, result.log_dir) == (0, "memory")
    partition = result.topics[0].partitions[1]
    assert (partition.offset_lag, partition.is_future_key) == (0, False)


def test_what_is_not_there_is_left_out(client: FakeClient) -> None:
    answer = client.ask(asked(("a", [1, 7]), ("nope", [0]), ("b", [-1])), 4)
    assert [place[:2] for place in sizes(answer)] == [("a", 1)]
    assert sizes(client.ask(asked(), 4)) == []


@pytest.mark.parametrize("version, where", [(1, "results"), (2, "results"), (3, ""), (4, "")])
def test_a_fault_is_told_where_the_version_has_a_place_for_it(
    client: FakeClient, version: int, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any) -> None:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(LogDirsService, "describe", faulty)
    answer = client.ask(DescribeLogDirsRequest(topics=None), version)
    found = [result.error_code for result in answer.results] if where else [answer.error_code]
    assert found == [-1]
