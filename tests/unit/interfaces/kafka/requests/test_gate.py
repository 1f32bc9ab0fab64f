from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.security.access import Operation, ResourceType
from domain.security.principal import ANONYMOUS, Principal
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from tests.fakes.answers import error_codes
from tests.fakes.client import FakeKafka, FakeListener
from tests.fakes.offset_requests import at, offset_commit
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.requests import fetch, metadata, produce

CODES = {ResourceType.TOPIC: 29, ResourceType.GROUP: 30, ResourceType.CLUSTER: 31, None: 29}
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


def guarded(authorizer: FakeAuthorizer) -> FakeKafka:
    kafka = FakeKafka()
    kafka.broker = replace(kafka.broker, authorizer=authorizer)
    FakeListener.__init__(kafka, kafka, kafka.request_log)
    kafka.topic("t")
    return kafka


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
    if api.name == "metadata":
        request = metadata("t")
    answer = client.ask(request, version)
    assert error_codes(answer) - {0} == {CODES[api.needs[0][1]]}
    assert not client.closed
    assert kafka.events.of("a request failed") == []


def test_what_is_asked_names_principal_operation_and_every_resource() -> None:
    authorizer = FakeAuthorizer((Operation.READ, ResourceType.GROUP, "g"))
    kafka = guarded(authorizer)
    by_name = kafka.client().ask(offset_commit("g", ("t", [at(0)])), 9)
    assert error_codes(by_name) == {29}
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
    assert error_codes(guarded(FakeAuthorizer(everywhere)).client().ask(request, 7)) == {0}
    one = (Operation.CREATE, ResourceType.TOPIC, "new")
    assert error_codes(guarded(FakeAuthorizer(one)).client().ask(request, 7)) == {0}


def test_nothing_shortens_the_way_past_the_gate() -> None:
    right = (Operation.WRITE, ResourceType.TOPIC, "t")
    authorizer = FakeAuthorizer(right)
    kafka = guarded(authorizer)
    client = kafka.client()
    for _ in range(3):
        assert error_codes(client.ask(produce(), 9)) == {0}
    authorizer.allowed.remove(right)
    assert error_codes(client.ask(produce(), 9)) == {29}
    client.ask(MetadataRequest(topics=None), 12)
    assert all(not route.repeated and not route.kept for route in kafka.shared.routes.made.values())


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
