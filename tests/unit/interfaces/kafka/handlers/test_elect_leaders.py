"""Elections of single partitions are in tests/oracle."""

from __future__ import annotations

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import request_for


def test_for_all_partitions_the_response_has_only_topics(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.topic("t", 2)
    response = client.request(request_for("elect_leaders", topic_partitions=None), 2)
    assert response.error_code == 0
    [result] = response.replica_election_results
    assert (result.topic, result.partition_result) == ("t", [])
