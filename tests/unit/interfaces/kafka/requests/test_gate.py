from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.groups.classic.group import ClassicGroup
from domain.security.access import Operation, ResourceType
from domain.security.principal import ANONYMOUS, Principal
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from interfaces.kafka.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from interfaces.kafka.wire.messages.list_groups import ListGroupsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from tests.fakes.answers import error_codes
from tests.fakes.client import FakeKafka, FakeListener
from tests.fakes.offset_requests import at, offset_commit
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.requests import fetch, metadata, produce

CODES = {ResourceType.TOPIC: 29, ResourceType.GROUP: 30, ResourceType.CLUSTER: 31}
#: Of requests that say themselves which resources they are for.
SAID = {"find_coordinator": ResourceType.GROUP}
READ_T, WRITE_T, DESCRIBE_T = (
    (operation, ResourceType.TOPIC, "t")
    for operation in (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
)
GUARDED = [
    pytest.param(api, version, id=f"{api.name}-{version}")
    for api in APIS
    for version in range(api.first_served, api.max_version + 1)
    if api.needs
]


class FakeAuthorizer:
    allows_everything = False

    def __init__(self, *allowed: tuple[Operation, ResourceType, str]) -> None:
        self.allowed = set(allowed)
        self.asked: list[tuple[Principal, Operation, ResourceType, str]] = []

    def allows(
        self, principal: Principal, operation: Operation, resource: ResourceType, name: str
    ) -> bool:
        self.asked.append((principal, operation, resource, name))
        return (operation, resource, name) in self.allowed

    def allows_any(
        self, principal: Principal, operation: Operation, resource: ResourceType
    ) -> bool:
        return any(right[:2] == (operation, resource) for right in self.allowed)


def guarded(authorizer: FakeAuthorizer) -> FakeKafka:
    kafka = FakeKafka()
    kafka.broker = replace(kafka.broker, authorizer=authorizer)
    FakeListener.__init__(kafka, kafka, kafka.request_log)
    kafka.topic("t")
    return kafka


def refusals(answer: Any) -> set[int]:
    return error_codes(answer) - {0}


@pytest.mark.parametrize(("api", "version"), GUARDED)
def test_a_request_that_is_not_allowed_is_refused_with_the_code_of_its_resource(
    api: Api, version: int
) -> None:
    kafka = guarded(FakeAuthorizer())
    client = kafka.client()
    request: Any = REQUESTS[api.name](version)
    for data in getattr(request, "topic_data", None) or getattr(request, "topics", None) or ():
        if getattr(data, "topic_id", bytes(16)) != bytes(16):
            data.topic_id = kafka.existing().topic_id
    answer = client.ask(request, version)
    resource = api.needs[0][1] or SAID.get(api.name, ResourceType.TOPIC)
    assert refusals(answer) == {CODES[resource]}
    assert not client.closed
    assert kafka.events.of("request_failed") == []


def test_what_is_asked_names_principal_operation_and_every_resource() -> None:
    authorizer = FakeAuthorizer((Operation.READ, ResourceType.GROUP, "g"))
    kafka = guarded(authorizer)
    by_name = kafka.client().ask(offset_commit("g", ("t", [at(0)])), 9)
    assert refusals(by_name) == {29}
    assert authorizer.asked == [
        (ANONYMOUS, Operation.READ, ResourceType.GROUP, "g"),
        (ANONYMOUS, Operation.READ, ResourceType.TOPIC, "t"),
    ]
    by_id = fetch(max_wait_ms=0)
    by_id.topics[0].topic_id = kafka.existing().topic_id
    kafka.client().ask(by_id, 13)
    assert authorizer.asked[-1] == (ANONYMOUS, Operation.READ, ResourceType.TOPIC, "t")


def test_who_may_create_anything_may_create_every_topic() -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic("new", 1, 1)])
    everywhere = (Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    assert refusals(guarded(FakeAuthorizer(everywhere)).client().ask(request, 7)) == set()
    one = (Operation.CREATE, ResourceType.TOPIC, "new")
    assert refusals(guarded(FakeAuthorizer(one)).client().ask(request, 7)) == set()


def test_who_may_write_to_any_topic_may_do_so_idempotently() -> None:
    request = InitProducerIdRequest(transactional_id=None)
    assert refusals(guarded(FakeAuthorizer(READ_T)).client().ask(request, 4)) == {31}
    assert refusals(guarded(FakeAuthorizer(WRITE_T)).client().ask(request, 4)) == set()


def test_an_empty_group_id_is_asked_for_like_any_other() -> None:
    authorizer = FakeAuthorizer()
    kafka = guarded(authorizer)
    groups = [OffsetFetchRequestGroup(group_id="", topics=None)]
    assert refusals(kafka.client().ask(OffsetFetchRequest(groups=groups), 8)) == {30}
    assert refusals(kafka.client().ask(DescribeGroupsRequest(groups=[""]), 5)) == {30}
    empty = (ANONYMOUS, Operation.DESCRIBE, ResourceType.GROUP, "")
    assert authorizer.asked == [empty, empty]


@pytest.mark.parametrize(
    ("key_type", "resource", "code"),
    [(0, ResourceType.GROUP, 30), (1, ResourceType.TRANSACTIONAL_ID, 53)],
)
def test_who_looks_for_a_coordinator_is_asked_about_the_kind_of_its_key(
    key_type: int, resource: ResourceType, code: int
) -> None:
    authorizer = FakeAuthorizer()
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["k"])
    assert refusals(guarded(authorizer).client().ask(request, 4)) == {code}
    assert authorizer.asked == [(ANONYMOUS, Operation.DESCRIBE, resource, "k")]


@pytest.mark.parametrize("version", [4, 12])
def test_metadata_refuses_each_topic_by_itself(version: int) -> None:
    kafka = guarded(FakeAuthorizer(DESCRIBE_T))
    kafka.topic("secret")
    client = kafka.client()
    some = client.ask(metadata("t", "secret"), version)
    assert {one.name: one.error_code for one in some.topics} == {"t": 0, "secret": 29}
    everything = client.ask(MetadataRequest(topics=None), version)
    assert [one.name for one in everything.topics] == ["t"]
    assert some.brokers == everything.brokers and len(some.brokers) == 1
    if version >= 12:
        ids = [kafka.existing(name).topic_id for name in ("t", "secret")]
        topics = [MetadataRequestTopic(topic_id=one, name=None) for one in ids]
        by_id = client.ask(MetadataRequest(topics=topics), version)
        assert {one.name: one.error_code for one in by_id.topics} == {"t": 0, None: 29}


def test_a_topic_is_created_on_the_way_for_those_who_may_create_it() -> None:
    may_describe = (Operation.DESCRIBE, ResourceType.TOPIC, "new")
    authorizer = FakeAuthorizer(may_describe)
    client = guarded(authorizer).client()
    assert refusals(client.ask(metadata("new"), 12)) == {29}
    authorizer.allowed.add((Operation.CREATE, ResourceType.TOPIC, "new"))
    assert refusals(client.ask(metadata("new"), 12)) == set()


def test_topics_and_groups_that_may_not_be_described_are_not_listed() -> None:
    kafka = guarded(FakeAuthorizer(DESCRIBE_T, (Operation.DESCRIBE, ResourceType.GROUP, "g")))
    kafka.topic("secret")
    for group_id in ("g", "h"):
        kafka.broker.groups.registry.put(ClassicGroup(group_id))
    client = kafka.client()
    listed = client.ask(DescribeTopicPartitionsRequest(response_partition_limit=10), 0)
    assert [one.name for one in listed.topics] == ["t"]
    secret = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="secret")])
    assert refusals(client.ask(secret, 0)) == {29}
    assert [one.group_id for one in client.ask(ListGroupsRequest(), 5).groups] == ["g"]


def test_authorized_operations_are_those_that_the_authorizer_allows() -> None:
    describe_cluster = (Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster")
    describe_group = (Operation.DESCRIBE, ResourceType.GROUP, "g")
    authorizer = FakeAuthorizer(DESCRIBE_T, WRITE_T, describe_group)
    client = guarded(authorizer).client()
    asked = MetadataRequest(
        topics=None,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    answer = client.ask(asked, 10)
    assert answer.topics[0].topic_authorized_operations == 1 << 8 | 1 << 4
    assert answer.cluster_authorized_operations == 0
    authorizer.allowed.add(describe_cluster)
    cluster = client.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), 0)
    assert cluster.cluster_authorized_operations == 1 << 8
    groups = DescribeGroupsRequest(groups=["g"], include_authorized_operations=True)
    assert client.ask(groups, 5).groups[0].authorized_operations == 1 << 8


def test_nothing_shortens_the_way_past_the_gate() -> None:
    authorizer = FakeAuthorizer(WRITE_T)
    kafka = guarded(authorizer)
    client = kafka.client()
    for _ in range(3):
        assert refusals(client.ask(produce(), 9)) == set()
    authorizer.allowed.remove(WRITE_T)
    assert refusals(client.ask(produce(), 9)) == {29}
    client.ask(MetadataRequest(topics=None), 12)
    assert all(
        not route.repeated and not route.cached_responses
        for route in kafka.shared.routes.made.values()
    )


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_fields_that_name_resources_exist(api: Api) -> None:
    request = getattr(api.messages(), f"{api.title}Request")
    for _, resource, fields in api.needs:
        assert bool(fields) == (resource is not ResourceType.CLUSTER)
        for path in fields.split():
            struct = request
            for name in path.split("."):
                field = struct.fields_[name]
                struct = field.element.element if field.kind == "array" else None
