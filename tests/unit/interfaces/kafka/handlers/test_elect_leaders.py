from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.client import FakeKafka
from tests.fakes.structs import request_for


def elect(
    kafka: FakeKafka, version: int, kind: int, requested: dict[str, list[int]] | None
) -> tuple[int, Any]:
    """The error code, and that of each partition."""
    kafka.topic("t", 2)
    topics = requested and [{"topic": one, "partitions": requested[one]} for one in requested]
    request = request_for("elect_leaders", election_type=kind, topic_partitions=topics)
    response = kafka.client().request(request, version)
    return response.error_code, {
        topic.topic: [(one.partition_id, one.error_code) for one in topic.partition_result]
        for topic in response.replica_election_results
    }


@pytest.mark.parametrize(("version", "kind"), [(0, 0), (1, 1), (2, 0)])
def test_no_partition_needs_an_election(kafka: FakeKafka, version: int, kind: int) -> None:
    requested = {"t": [0, 1, 2], "absent": [0]}
    expected = {"t": [(0, 84), (1, 84), (2, 3)], "absent": [(0, 3)]}
    assert elect(kafka, version, kind, requested) == (0, expected)


def test_for_all_partitions_the_response_has_only_topics(kafka: FakeKafka) -> None:
    assert elect(kafka, 2, 0, None) == (0, {"t": []})


@pytest.mark.parametrize("version", [1, 2])
def test_an_unknown_type_of_election_is_refused(kafka: FakeKafka, version: int) -> None:
    assert elect(kafka, version, 2, {"t": [0]}) == (42, {"t": [(0, 42)]})
