from __future__ import annotations

from typing import Any

from interfaces.kafka.requests.failures import failed_response
from interfaces.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from interfaces.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

FETCH = FetchRequest(topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=3)])])


def test_a_response_has_the_error_at_the_top_if_its_version_has_the_field() -> None:
    failed = failed_response(FetchRequest, FetchResponse, 7, {})
    assert failed(FETCH, 56, None) == FetchResponse(error_code=56)
    failed = failed_response(HeartbeatRequest, HeartbeatResponse, 0, {})
    assert failed(HeartbeatRequest(), 15, "why") == HeartbeatResponse(error_code=15)


def test_else_each_requested_item_has_the_error() -> None:
    failed = failed_response(FetchRequest, FetchResponse, 6, {"high_watermark": -1})
    response: Any = failed(FETCH, 56, None)
    [topic] = response.responses
    [partition] = topic.partitions
    assert (response.error_code, topic.topic) == (0, "t")
    assert (partition.partition_index, partition.error_code) == (3, 56)
    assert partition.high_watermark == -1


def test_an_item_may_be_a_name_and_has_the_message_if_there_is_a_field() -> None:
    failed = failed_response(FindCoordinatorRequest, FindCoordinatorResponse, 4, {})
    response: Any = failed(FindCoordinatorRequest(coordinator_keys=["a", "b"]), 53, "why")
    found = [(one.key, one.error_code, one.error_message) for one in response.coordinators]
    assert found == [("a", 53, "why"), ("b", 53, "why")]
