"""What the log line of a request names, and what is no failed request."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResource
from interfaces.kafka.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.classic_members import join_all
from tests.fakes.client import FakeKafka
from tests.fakes.logs import FakeRequestLog
from tests.fakes.mixed_group import Modern, classic
from tests.fakes.plain_requests import REQUESTS

Named = tuple[str, str] | None


def named(request: Request, version: int) -> list[Named]:
    """By the lines of requests, all of which are slow enough."""
    kafka = FakeKafka(FakeRequestLog(enabled=True))
    kafka.client().ask(request, version)
    return [record.log_subject for record in kafka.request_log.records]


def test_a_request_of_a_group_names_it() -> None:
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert named(heartbeat, 4) == [("group", "g")]
    assert named(DeleteGroupsRequest(groups_names=["g"]), 2) == [("group", "g")]
    one = OffsetFetchRequestGroup(group_id="g", topics=None)
    assert named(OffsetFetchRequest(groups=[one]), 8) == [("group", "g")]


def test_whoever_looks_for_a_coordinator_names_its_group() -> None:
    assert named(FindCoordinatorRequest(key="g"), 0) == [("group", "g")]
    assert named(FindCoordinatorRequest(coordinator_keys=["g"]), 4) == [("group", "g")]
    assert named(FindCoordinatorRequest(coordinator_keys=["g", "h"]), 4) == [None]
    assert named(FindCoordinatorRequest(key_type=1, coordinator_keys=["t"]), 4) == [None]
    assert named(FindCoordinatorRequest(key_type=1, key="t"), 1) == [None]


def test_a_request_of_many_groups_names_none() -> None:
    assert named(DescribeGroupsRequest(groups=["g", "h"]), 6) == [None]


def test_a_request_of_a_resource_names_it() -> None:
    resource = AlterConfigsResource(resource_type=2, resource_name="t", configs=[])
    assert named(AlterConfigsRequest(resources=[resource]), 2) == [("resource", "topic t")]


@pytest.mark.parametrize(
    ("api", "version"),
    [
        ("produce", 12),
        ("fetch", 12),
        ("list_offsets", 9),
        ("delete_topics", 5),
        ("delete_topics", 6),
        ("create_partitions", 3),
        ("delete_records", 2),
        ("offset_for_leader_epoch", 4),
    ],
)
def test_a_failed_request_of_one_topic_names_it(api: str, version: int) -> None:
    # There is no such topic.
    assert named(REQUESTS[api](version), version) == [("topic", "t")]


def test_a_failed_request_without_the_name_of_one_topic_names_none() -> None:
    assert named(DeleteTopicsRequest(topic_names=["a", "b"]), 5) == [None]
    assert named(DeleteTopicsRequest(topic_names=[]), 5) == [None]


def failures(kafka: FakeKafka, request: Request, version: int) -> tuple[int, list[object]]:
    kafka.request_log.records.clear()
    answer = kafka.client().ask(request, version)
    return answer.groups[0].error_code, [one.error_codes for one in kafka.request_log.records]


def test_to_ask_a_classic_group_in_the_wrong_api_is_no_failure() -> None:
    kafka = FakeKafka(FakeRequestLog(enabled=True, slow_ns=1 << 62))
    kafka.topic("t")
    join_all(classic(kafka))
    assert failures(kafka, ConsumerGroupDescribeRequest(group_ids=["g"]), 0) == (69, [])
    assert failures(kafka, ConsumerGroupDescribeRequest(group_ids=["no"]), 0) == (69, [(69,)])


def test_nor_is_it_with_a_modern_one() -> None:
    kafka = FakeKafka(FakeRequestLog(enabled=True, slow_ns=1 << 62))
    kafka.topic("t")
    Modern(kafka).join()
    assert failures(kafka, DescribeGroupsRequest(groups=["g"]), 6) == (69, [])
    assert failures(kafka, DescribeGroupsRequest(groups=["no"]), 6) == (69, [(69,)])


def test_nor_is_it_one_that_offsets_are_not_read_yet() -> None:
    kafka = FakeKafka(FakeRequestLog(enabled=True, slow_ns=1 << 62))
    kafka.broker.groups.offsets.loaded = False
    assert failures(kafka, DescribeGroupsRequest(groups=["g"]), 6) == (14, [])
