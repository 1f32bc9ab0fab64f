"""The gate takes elements without a right out of a request, and the handler gets the rest."""

from __future__ import annotations

import pytest

from application.metrics.families import own
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclFilter
from interfaces.kafka.connections.figures import ConnectionFigures
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.offset_requests import at, offset_commit
from tests.fakes.requests import fetch, produce
from tests.fakes.results import error_codes
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import new

READ_T = Operation.READ, ResourceType.TOPIC, "t"


#: Requests about `t`, which the client may use, and `secret`: the code of each in the response.
ELEMENTS: list[tuple[Operation, Request, int, str]] = [
    (
        Operation.WRITE,
        request_for(
            "produce",
            acks=-1,
            topic_data=[
                {
                    "name": name,
                    "partition_data": [{"index": 0, "records": memoryview(record_batch(["a"]))}],
                }
                for name in ("secret", "t")
            ],
        ),
        9,
        "responses",
    ),
    (
        Operation.DESCRIBE,
        request_for(
            "list_offsets",
            topics=[
                {"name": name, "partitions": [{"partition_index": 0, "timestamp": -1}]}
                for name in ("secret", "t")
            ],
        ),
        7,
        "topics",
    ),
    (
        Operation.READ,
        request_for(
            "fetch",
            topics=[{"topic": name, "partitions": [{"partition": 0}]} for name in ("secret", "t")],
        ),
        12,
        "responses",
    ),
    (Operation.CREATE, request_for("create_topics", topics=[new("secret"), new("t")]), 4, "topics"),
    (
        Operation.DELETE,
        request_for("delete_topics", topic_names=["secret", "t"]),
        5,
        "responses",
    ),
    (
        Operation.DELETE,
        request_for(
            "delete_records",
            topics=[
                {"name": name, "partitions": [{"partition_index": 0, "offset": 0}]}
                for name in ("secret", "t")
            ],
        ),
        2,
        "topics",
    ),
    (
        Operation.ALTER,
        request_for(
            "create_partitions",
            topics=[{"name": name, "count": 2, "assignments": None} for name in ("secret", "t")],
        ),
        3,
        "results",
    ),
    (
        Operation.DESCRIBE_CONFIGS,
        request_for(
            "describe_configs",
            resources=[
                {"resource_type": 2, "resource_name": name, "configuration_keys": None}
                for name in ("secret", "t")
            ],
        ),
        4,
        "results",
    ),
    (
        Operation.DESCRIBE,
        request_for(
            "offset_for_leader_epoch",
            topics=[
                {"topic": name, "partitions": [{"partition": 0, "leader_epoch": 0}]}
                for name in ("secret", "t")
            ],
        ),
        4,
        "topics",
    ),
]


@pytest.mark.parametrize(
    ("operation", "request_", "version", "array"),
    ELEMENTS,
    ids=lambda one: type(one).__name__ if isinstance(one, Request) else None,
)
def test_only_elements_without_a_right_are_refused(
    operation: Operation, request_: Request, version: int, array: str
) -> None:
    kafka = SecuredKafka(
        allowed(operation, ResourceType.TOPIC, "t"),
        allowed(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, "t"),
    )
    for name in ("t", "secret"):
        if operation is not Operation.CREATE:
            kafka.topic(name)
    response = kafka.user().request(request_, version)
    codes = {
        getattr(one, "name", None) or getattr(one, "topic", None) or one.resource_name: (
            error_codes(one) - {0}
        )
        for one in getattr(response, array)
    }
    assert codes == {"t": set(), "secret": {29}}
    [event] = kafka.events.of("authorization_denied")
    assert event["principal"] == "User:alice" and event["resource"] == "secret"
    expected = "Describe" if operation is Operation.DELETE and version == 5 else operation.value
    assert event["operation"] == expected


def test_groups_are_refused_one_by_one() -> None:
    kafka = SecuredKafka(allowed(Operation.DESCRIBE, ResourceType.GROUP, "g"))
    client = kafka.user()
    described = client.request(request_for("describe_groups", groups=["g", "h"]), 5)
    assert {one.group_id: one.error_code for one in described.groups} == {"g": 0, "h": 30}
    groups = [{"group_id": one, "topics": None} for one in ("g", "h")]
    fetched = client.request(request_for("offset_fetch", groups=groups), 8)
    assert {one.group_id: one.error_code for one in fetched.groups} == {"g": 0, "h": 30}
    keys = request_for("find_coordinator", key_type=0, coordinator_keys=["g", "h"])
    found = client.request(keys, 4)
    assert {one.key: one.error_code for one in found.coordinators} == {"g": 0, "h": 30}


def test_the_error_of_the_whole_request_leaves_refused_elements_refused() -> None:
    """A group that refuses the commit does so for the topics that the client may read."""
    kafka = SecuredKafka(allowed(*READ_T), allowed(Operation.READ, ResourceType.GROUP, "g"))
    kafka.topic("t")
    kafka.topic("secret")
    commit = offset_commit("g", ("t", [at(0)]), ("secret", [at(0)]))
    commit.generation_id_or_member_epoch = 5
    response = kafka.user().request(commit, 8)
    assert {one.name: error_codes(one) for one in response.topics} == {"t": {22}, "secret": {29}}


def test_each_fetch_of_a_session_is_checked() -> None:
    kafka = SecuredKafka(allowed(*READ_T))
    kafka.topic("t")
    client = kafka.user()
    first = fetch(max_wait_ms=0)
    first.session_epoch = 0
    opened = client.request(first, 12)
    assert opened.session_id and error_codes(opened) == {0}
    again = request_for(
        "fetch", session_id=opened.session_id, session_epoch=1, topics=[], max_wait_ms=0
    )
    assert client.request(again, 12).responses == []
    kafka.delete_acls(AclFilter())
    again.session_epoch = 2
    assert error_codes(client.request(again, 12)) == {0, 29}
    kafka.create_acls(allowed(*READ_T))
    again.session_epoch = 3
    assert error_codes(client.request(again, 12)) == {0}


def test_acks_zero_to_a_topic_without_the_right_closes_the_connection() -> None:
    kafka = SecuredKafka()
    kafka.topic("t")
    client = kafka.user()
    client.send(produce(acks=0), 9)
    kafka.run()
    assert client.closed and client.why_closed() == "produce_failed"


def test_denials_of_the_same_right_are_logged_once_a_minute() -> None:
    kafka = SecuredKafka()
    kafka.topic("t")
    client = kafka.user()
    for _ in range(3):
        client.request(produce(), 9)
    [denied] = kafka.events.of("authorization_denied")
    assert (denied["denials"], denied["api"], denied["resource_type"]) == (1, "Produce", "Topic")
    kafka.scheduler.advance(60_000)
    assert [one["denials"] for one in kafka.events.of("authorization_denied")] == [1, 2]
    assert (own.DENIALS, [((), 3)]) in list(ConnectionFigures(kafka.shared).read())


def test_what_is_omitted_is_not_logged_as_denied() -> None:
    kafka = SecuredKafka()
    kafka.topic("t")
    client = kafka.user()
    client.request(request_for("metadata", topics=None), 12)
    client.request(request_for("list_groups"), 5)
    client.request(request_for("describe_topic_partitions", response_partition_limit=10), 0)
    assert kafka.events.of("authorization_denied") == []
