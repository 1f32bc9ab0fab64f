from __future__ import annotations

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

WANTED = FetchRequest(topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=3)])])


def test_the_error_stands_at_the_top_of_the_response_where_the_version_has_room_for_it() -> None:
    failed = failed_response(FetchRequest, FetchResponse, 7, {})
    assert failed(WANTED, 56, None) == FetchResponse(error_code=56)
    failed = failed_response(HeartbeatRequest, HeartbeatResponse, 0, {})
    assert failed(HeartbeatRequest(), 15, "why") == HeartbeatResponse(error_code=15)


def test_otherwise_it_stands_in_all_that_was_asked_for() -> None:
    failed = failed_response(FetchRequest, FetchResponse, 6, {"high_watermark": -1})
    response = failed(WANTED, 56, None)
    [topic] = response.responses  # type: ignore[attr-defined]
    [partition] = topic.partitions
    assert (response.error_code, topic.topic) == (0, "t")  # type: ignore[attr-defined]
    assert (partition.partition_index, partition.error_code) == (3, 56)
    assert partition.high_watermark == -1


def test_what_is_asked_for_may_be_a_mere_name_and_has_the_message_where_there_is_one() -> None:
    failed = failed_response(FindCoordinatorRequest, FindCoordinatorResponse, 4, {})
    response = failed(FindCoordinatorRequest(coordinator_keys=["a", "b"]), 53, "why")
    assert [
        (one.key, one.error_code, one.error_message)
        for one in response.coordinators  # type: ignore[attr-defined]
    ] == [("a", 53, "why"), ("b", 53, "why")]
