"""The authorizer checks the operation on each resource before the handler runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.groups.classic.group import ClassicGroup
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclFilter
from domain.security.principal import ANONYMOUS, Principal
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.schema import Request
from tests.fakes.client import FakeKafka, FakeListener
from tests.fakes.offset_requests import at, offset_commit
from tests.fakes.plain_requests import plain_request
from tests.fakes.requests import fetch, metadata, produce
from tests.fakes.results import error_codes
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import new

Right = tuple[Operation, ResourceType, str]

CODES = {
    ResourceType.TOPIC: 29,
    ResourceType.GROUP: 30,
    ResourceType.CLUSTER: 31,
    ResourceType.TRANSACTIONAL_ID: 53,
}
#: These versions are for brokers.
OF_BROKERS = {("add_partitions_to_txn", 4), ("add_partitions_to_txn", 5)}
#: APIs whose requests contain the type of the resource.
TYPED = {"find_coordinator": ResourceType.GROUP}
READ_T, WRITE_T, DESCRIBE_T = (
    (operation, ResourceType.TOPIC, "t")
    for operation in (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
)


def on_group(group_id: str) -> Right:
    return Operation.DESCRIBE, ResourceType.GROUP, group_id


class FakeAuthorizer:
    allows_everything = False
    revision = 0

    def __init__(self, *allowed: Right) -> None:
        self.allowed = set(allowed)
        self.checked: list[tuple[Principal, Operation, ResourceType, str]] = []

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: Operation,
        resource: ResourceType,
        name: str,
    ) -> bool:
        self.checked.append((principal, operation, resource, name))
        return (operation, resource, name) in self.allowed

    def allows_any(
        self, principal: Principal, host: str, operation: Operation, resource: ResourceType
    ) -> bool:
        return any(right[:2] == (operation, resource) for right in self.allowed)


def guarded(authorizer: FakeAuthorizer) -> FakeKafka:
    kafka = FakeKafka()
    kafka.broker = replace(kafka.broker, authorizer=authorizer)
    FakeListener.__init__(kafka, kafka, kafka.request_log)
    kafka.topic("t")
    return kafka


def refusals(authorizer: FakeAuthorizer, request: Request, version: int) -> set[int]:
    return error_codes(guarded(authorizer).client().request(request, version)) - {0}


@pytest.mark.parametrize("api", [one for one in APIS if one.needs], ids=lambda api: api.name)
def test_a_request_that_is_not_allowed_has_the_error_of_its_resource(api: Api) -> None:
    kafka = guarded(FakeAuthorizer())
    client = kafka.client()
    resource = api.needs[0][1] or TYPED.get(api.name, ResourceType.TOPIC)
    for version in range(api.first_served, api.max_version + 1):
        request = plain_request(api.name, version, kafka.existing().topic_id)
        code = 31 if (api.name, version) in OF_BROKERS else CODES[resource]
        response = client.request(request, version)
        if api.name == "describe_log_dirs" and version < 3:
            assert response.results == []  # there is no field for the error
        else:
            assert error_codes(response) - {0} == {code}, version
    assert not client.closed
    assert kafka.events.of("request_failed") == []


def test_the_authorizer_gets_the_principal_the_operation_and_each_resource() -> None:
    authorizer = FakeAuthorizer((Operation.READ, ResourceType.GROUP, "g"))
    kafka = guarded(authorizer)
    by_name = kafka.client().request(offset_commit("g", ("t", [at(0)])), 9)
    assert error_codes(by_name) == {29}
    assert list(dict.fromkeys(authorizer.checked)) == [
        (ANONYMOUS, Operation.READ, ResourceType.GROUP, "g"),
        (ANONYMOUS, *READ_T),
    ]
    by_id = fetch(max_wait_ms=0)
    by_id.topics[0].topic_id = kafka.existing().topic_id
    kafka.client().request(by_id, 13)
    assert authorizer.checked[-1] == (ANONYMOUS, *READ_T)


CREATE_NEW = request_for("create_topics", topics=[new("new")])
INIT = request_for("init_producer_id", transactional_id=None)


@pytest.mark.parametrize(
    ("right", "request_", "version", "codes"),
    [
        # Create on the cluster allows every topic.
        ((Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster"), CREATE_NEW, 7, set()),
        ((Operation.CREATE, ResourceType.TOPIC, "new"), CREATE_NEW, 7, set()),
        # Write on any topic allows idempotent producers.
        (READ_T, INIT, 4, {31}),
        (WRITE_T, INIT, 4, set()),
    ],
)
def test_one_of_several_rights_is_enough(
    right: Right, request_: Request, version: int, codes: set[int]
) -> None:
    sees_configs = Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, "new"
    assert refusals(FakeAuthorizer(right, sees_configs), request_, version) == codes


@pytest.mark.parametrize(
    ("request_", "version", "resource", "name", "code"),
    [
        (
            *(request_for("offset_fetch", groups=[{"group_id": "", "topics": None}]), 8),
            *(ResourceType.GROUP, "", 30),
        ),
        (request_for("describe_groups", groups=[""]), 5, ResourceType.GROUP, "", 30),
        (
            *(request_for("find_coordinator", key_type=0, coordinator_keys=["k"]), 4),
            *(ResourceType.GROUP, "k", 30),
        ),
        (
            *(request_for("find_coordinator", key_type=1, coordinator_keys=["k"]), 4),
            *(ResourceType.TRANSACTIONAL_ID, "k", 53),
        ),
    ],
)
def test_an_empty_group_id_and_the_type_of_a_key_are_checked(
    request_: Request, version: int, resource: ResourceType, name: str, code: int
) -> None:
    authorizer = FakeAuthorizer()
    assert refusals(authorizer, request_, version) == {code}
    assert set(authorizer.checked) == {(ANONYMOUS, Operation.DESCRIBE, resource, name)}


@pytest.mark.parametrize("version", [4, 12])
def test_metadata_refuses_each_topic_separately(version: int) -> None:
    kafka = guarded(FakeAuthorizer(DESCRIBE_T))
    kafka.topic("secret")
    client = kafka.client()
    some = client.request(metadata("t", "secret"), version)
    assert {one.name: one.error_code for one in some.topics} == {"t": 0, "secret": 29}
    everything = client.request(request_for("metadata", topics=None), version)
    assert [one.name for one in everything.topics] == ["t"]
    assert some.brokers == everything.brokers and len(some.brokers) == 1
    if version >= 12:
        ids = [kafka.existing(name).topic_id for name in ("t", "secret")]
        topics = [{"topic_id": one, "name": None} for one in ids]
        by_id = client.request(request_for("metadata", topics=topics), version)
        assert {one.name: one.error_code for one in by_id.topics} == {"t": 0, None: 29}


def test_metadata_creates_a_topic_only_with_the_right_to_create_it() -> None:
    authorizer = FakeAuthorizer((Operation.DESCRIBE, ResourceType.TOPIC, "new"))
    assert refusals(authorizer, metadata("new"), 12) == {29}
    authorizer.allowed.add((Operation.CREATE, ResourceType.TOPIC, "new"))
    assert refusals(authorizer, metadata("new"), 12) == set()


def test_lists_have_only_topics_and_groups_that_the_principal_may_describe() -> None:
    kafka = guarded(FakeAuthorizer(DESCRIBE_T, on_group("g")))
    kafka.topic("secret")
    for group_id in ("g", "h"):
        kafka.broker.groups.registry.put(ClassicGroup(group_id))
    client = kafka.client()
    listed = client.request(
        request_for("describe_topic_partitions", response_partition_limit=10), 0
    )
    assert [one.name for one in listed.topics] == ["t"]
    secret = request_for("describe_topic_partitions", topics=[{"name": "secret"}])
    assert error_codes(client.request(secret, 0)) == {29}
    assert [one.group_id for one in client.request(request_for("list_groups"), 5).groups] == ["g"]


def test_authorized_operations_are_those_that_the_authorizer_allows() -> None:
    authorizer = FakeAuthorizer(DESCRIBE_T, WRITE_T, on_group("g"))
    client = guarded(authorizer).client()
    request = request_for(
        "metadata",
        topics=None,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    response = client.request(request, 10)
    assert response.topics[0].topic_authorized_operations == 1 << 8 | 1 << 4
    assert response.cluster_authorized_operations == 0
    authorizer.allowed.add((Operation.DESCRIBE, ResourceType.CLUSTER, "kafka-cluster"))
    cluster = client.request(
        request_for("describe_cluster", include_cluster_authorized_operations=True), 0
    )
    assert cluster.cluster_authorized_operations == 1 << 8
    groups = request_for("describe_groups", groups=["g"], include_authorized_operations=True)
    assert client.request(groups, 5).groups[0].authorized_operations == 1 << 8


def test_repeated_produce_requests_are_cached_for_those_who_may_send_them() -> None:
    kafka = SecuredKafka(allowed(*WRITE_T))
    kafka.topic("t")
    alice, bob = kafka.user(), kafka.user("bob")
    for _ in range(3):
        assert error_codes(alice.request(produce(), 9)) == {0}
    [route] = [one for one in kafka.shared.routes.made.values() if one.repeated]
    assert route.repeated
    assert error_codes(bob.request(produce(), 9)) == {29}
    # Also after a request with the same bytes as those of alice.
    bob.session.prefix_end = alice.session.prefix_end
    assert error_codes(bob.request(produce(), 9)) == {29}
    kafka.create_acls(allowed(*WRITE_T, principal="User:bob"))
    for _ in range(3):
        assert error_codes(bob.request(produce(), 9)) == {0}
        assert error_codes(alice.request(produce(), 9)) == {0}
    kafka.delete_acls(AclFilter(principal="User:alice"))
    assert error_codes(alice.request(produce(), 9)) == {29}
    assert error_codes(bob.request(produce(), 9)) == {0}
    assert kafka.partition().high_watermark == 10


def test_a_repeated_request_is_not_decoded_and_a_host_is_part_of_the_identity() -> None:
    kafka = SecuredKafka(allowed(*WRITE_T)._replace(host="127.0.0.1"))
    kafka.topic("t")
    client = kafka.user()
    client.session.address = "127.0.0.1"
    for _ in range(2):
        assert error_codes(client.request(produce(), 9)) == {0}
    [route] = [one for one in kafka.shared.routes.made.values() if one.repeated]

    def no_decoder(*_: object) -> Any:
        raise AssertionError("the request is decoded")

    route.decode, decode = no_decoder, route.decode
    assert error_codes(client.request(produce(), 9)) == {0}
    route.decode = decode
    other = kafka.user()
    other.session.address = "10.0.0.1"
    other.session.prefix_end = client.session.prefix_end
    assert error_codes(other.request(produce(), 9)) == {29}


def test_encoded_metadata_is_for_clients_with_the_same_identity() -> None:
    kafka = SecuredKafka(allowed(*DESCRIBE_T))
    kafka.topic("t")
    kafka.topic("secret")
    everything = request_for("metadata", topics=None)
    for _ in range(2):
        names = [
            [one.name for one in kafka.user(user).request(everything, 12).topics]
            for user in ("alice", "bob", "admin")
        ]
        assert names == [["t"], [], ["t", "secret"]]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_fields_with_the_names_of_resources_exist(api: Api) -> None:
    request: Any = getattr(api.messages(), f"{api.title}Request")
    for _, resource, fields, _ in api.needs:
        assert bool(fields) == (resource is not ResourceType.CLUSTER)
        for path in fields.split():
            struct = request
            for name in path.split("."):
                field = struct.fields_[name]
                struct = field.element.element if field.kind == "array" else None
