from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.fakes.client import FakeClient, FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


def of(name: str, *partitions: int) -> TopicPartitions:
    return TopicPartitions(topic=name, partitions=list(partitions))


def elected(answer: Any) -> dict[str, list[tuple[int, int]]]:
    return {
        topic.topic: [(one.partition_id, one.error_code) for one in topic.partition_result]
        for topic in answer.replica_election_results
    }


@pytest.mark.parametrize(("version", "kind"), [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)])
def test_no_partition_needs_an_election(client: FakeClient, version: int, kind: int) -> None:
    wanted = [of("t", 0, 1, 2), of("no", 0)]
    request = ElectLeadersRequest(election_type=kind, topic_partitions=wanted)
    answer = client.ask(request, version)
    assert answer.error_code == 0
    assert elected(answer) == {"t": [(0, 84), (1, 84), (2, 3)], "no": [(0, 3)]}


def test_of_all_partitions_topics_are_named_alone(client: FakeClient) -> None:
    answer = client.ask(ElectLeadersRequest(topic_partitions=None), 2)
    assert (answer.error_code, elected(answer)) == (0, {"t": []})


@pytest.mark.parametrize("version", [1, 2])
def test_an_election_of_an_unknown_kind_is_refused(client: FakeClient, version: int) -> None:
    request = ElectLeadersRequest(election_type=2, topic_partitions=[of("t", 0)])
    answer = client.ask(request, version)
    assert (answer.error_code, elected(answer)) == (42, {"t": [(0, 42)]})
    [[told]] = [one.partition_result for one in answer.replica_election_results]
    assert told.error_message == "Unknown election type 2"
