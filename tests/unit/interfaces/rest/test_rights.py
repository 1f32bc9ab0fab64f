"""What a principal may do over HTTP; the principal of a client without users is ANONYMOUS."""

from __future__ import annotations

from typing import Any

import pytest

from domain.groups.embedded_protocol import write_assignment
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.acl import PatternType, Permission
from interfaces.rest.rights import ROUTES, access_of, is_open
from interfaces.rest.urls import V3
from tests.fakes.admin import FakeAdmin, RestResponse
from tests.fakes.classic_members import join_all
from tests.fakes.mixed_group import classic
from tests.fakes.offset_requests import at, commit
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.transactional_producer import TransactionalProducer

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
ME = "User:ANONYMOUS"
PARAMETERS = {
    "topic_name": "orders",
    "group_id": "g",
    "transactional_id": "tx",
    "partition_id": "0",
    "broker_id": "1",
    "consumer_id": "c",
    "name": "retention.ms",
    "user_name": "alice",
    "fault_id": "1",
    "snapshot_id": "1",
    "cluster_id": "other",
}


def _admin(*rights: tuple[Operation, ResourceType, str]) -> FakeAdmin:
    """With the topics `orders` and `secrets`, and a group with offsets in both."""
    bindings = [allowed(*right, PatternType.LITERAL, ME) for right in rights]
    kafka = SecuredKafka(*bindings)
    for topic in ("orders", "secrets"):
        kafka.topic(topic)
    commit(kafka.user("admin"), "g", ("orders", [at(0, 0)]), ("secrets", [at(0, 0)]))
    return FakeAdmin(kafka)


def _refused(response: RestResponse, right: str) -> None:
    assert response.json["message"] == f"{ME} may not {right}"
    assert (response.status, response.json["error_code"]) == (403, 40301)


def _names(response: RestResponse, field: str) -> list[Any]:
    assert response.status == 200
    return [one[field] for one in response.json["data"]]


@pytest.mark.parametrize("api", [api for api, access in ROUTES.items() if access.rights])
@pytest.mark.parametrize("prefix", ["", V3])
def test_a_route_with_a_right_is_refused_without_it(api: str, prefix: str) -> None:
    method, _, path = api.partition(" ")
    if prefix and not _is_v3(api):
        return
    path = prefix + (path.replace("/groups", "/consumer-groups", 1) if prefix else path)
    kafka = SecuredKafka()
    names = PARAMETERS | {"cluster_id": kafka.broker.cluster_id}
    body = {} if method in ("POST", "PUT", "PATCH") else None
    refused = FakeAdmin(kafka).request(method, path.format(**names), body)
    assert (refused.status, refused.json["error_code"]) == (403, 40301)


def _is_v3(api: str) -> bool:
    path = api.partition(" ")[2]
    own = ("/console", "/metrics", "/requestz", "/connz", "/test", "/configs", "/history")
    return not path.startswith(own) and not path.endswith("/history")


def test_the_message_names_the_right() -> None:
    admin = _admin()
    _refused(admin.get("/topics/orders"), "Describe Topic orders")
    _refused(admin.get("/topics/nowhere"), "Describe Topic nowhere")
    _refused(admin.get("/groups/g/lags"), "Describe Group g")
    _refused(admin.get("/metrics"), f"Describe Cluster {CLUSTER_NAME}")
    _refused(admin.get("/requestz"), f"Describe Cluster {CLUSTER_NAME}")
    [first, *_] = [
        one for _, event, one in admin.fake.events.lines if event[:13] == "authorization"
    ]
    assert (first["principal"], first["operation"], first["resource"], first["api"]) == (
        ME,
        "Describe",
        "orders",
        "GET /topics/{topic_name}",
    )


def test_lists_have_what_one_may_describe() -> None:
    admin = _admin((Operation.DESCRIBE, TOPIC, "orders"), (Operation.DESCRIBE, GROUP, "g"))
    assert _names(admin.get("/topics"), "topic_name") == ["orders"]
    assert _names(admin.get("/console/data/topics"), "name") == ["orders"]
    assert _names(admin.get("/groups/g/lags"), "topic_name") == ["orders"]
    assert _names(admin.get("/brokers/1/partition-replicas"), "topic_name") == ["orders"]
    group = admin.get("/console/data/groups/g").json
    assert [one["topic"] for one in group["partitions"]] == ["orders"]
    without = _admin((Operation.DESCRIBE, TOPIC, "orders"))
    assert _names(without.get("/groups"), "consumer_group_id") == []
    assert _names(without.get("/console/data/groups"), "group_id") == []
    assert _names(without.get("/console/data/consumers?topic=orders"), "group_id") == []
    assert without.get("/console/data/topics/orders").json["groups"] == []
    _refused(without.get("/console/data/partitions?topic=secrets"), "Describe Topic secrets")
    _refused(without.get("/console/data/consumers?topic=secrets"), "Describe Topic secrets")


def test_members_have_the_topics_that_one_may_describe() -> None:
    admin = _admin((Operation.DESCRIBE, TOPIC, "orders"), (Operation.DESCRIBE, GROUP, "g"))
    assert isinstance(admin.fake, SecuredKafka)
    member = classic(admin.fake)
    member.client = admin.fake.user("admin")
    join_all(member)
    member.sync({member.member_id: write_assignment(1, {"orders": [0], "secrets": [0]})})
    path = f"/groups/g/consumers/{member.member_id}/assignments"
    assert _names(admin.get(path), "topic_name") == ["orders"]
    [shown] = admin.get("/console/data/groups/g").json["members"]
    assert shown["assigned"] == {"orders": [0]}


def test_transactions_have_the_topics_and_groups_that_one_may_describe() -> None:
    admin = _admin(
        (Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "tx"),
        (Operation.DESCRIBE, TOPIC, "orders"),
        (Operation.DESCRIBE, GROUP, "g"),
    )
    producer = TransactionalProducer(admin.fake, "tx")
    producer.init()
    producer.coordinator.add_partitions("tx", producer.producer, [("orders", 0), ("secrets", 0)])
    for group in ("g", "secret"):
        admin.fake.run()
        producer.coordinator.add_offsets("tx", producer.producer, group)
    admin.fake.run()
    [listed] = admin.get("/transactions").json["data"]
    for one in (listed, admin.get("/transactions/tx").json):
        assert [place["topic_name"] for place in one["partitions"]] == ["orders"]
        assert one["consumer_groups"] == ["g"]


def test_resources_in_bodies_are_checked() -> None:
    admin = _admin(
        (Operation.DESCRIBE, TOPIC, "orders"),
        (Operation.READ, TOPIC, "orders"),
        (Operation.DELETE, TOPIC, "orders"),
        (Operation.WRITE, TOPIC, "orders"),
        (Operation.READ, GROUP, "g"),
    )
    _refused(admin.post("/topics", {"name": "new"}), "Create Topic new")
    grow = admin.request("PATCH", "/topics/orders", {"partitions_count": 2})
    _refused(grow, "Alter Topic orders")
    configs = [{"name": "retention.ms", "value": "1"}]
    altered = admin.request("PATCH", "/topics/orders", {"configs": configs})
    _refused(altered, "AlterConfigs Topic orders")
    truncated = admin.post("/topics:truncate", {"topic_names": ["orders", "secrets"]})
    _refused(truncated, "Delete Topic secrets")
    cloned = admin.post("/topics/orders:clone", {"name": "copy"})
    _refused(cloned, "Create Topic copy")
    target = {"to": "earliest"}
    _refused(admin.post("/groups/g/offsets", target), "Read Topic secrets")
    batch = {"entries": [{"id": "1", "value": "v"}], "transaction": {"transactional_id": "tx"}}
    _refused(admin.post("/topics/orders/records:batch", batch), "Write TransactionalId tx")


def test_a_denial_by_host_is_for_ipv4_clients_of_a_dual_stack_socket() -> None:
    admin = _admin((Operation.DESCRIBE, TOPIC, "orders"))
    admin.peer = "::ffff:192.0.2.1", 4711
    assert admin.get("/topics/orders").status == 200
    denial = allowed(Operation.DESCRIBE, TOPIC, "orders", principal=ME)
    assert isinstance(admin.fake, SecuredKafka)
    admin.fake.create_acls(denial._replace(host="192.0.2.1", permission=Permission.DENY))
    _refused(admin.get("/topics/orders"), "Describe Topic orders")
    denied = [one for _, event, one in admin.fake.events.lines if event[:13] == "authorization"]
    assert [one["peer"] for one in denied] == ["192.0.2.1:4711"]


def test_a_right_is_enough() -> None:
    admin = _admin(
        (Operation.CREATE, TOPIC, "new"),
        (Operation.WRITE, TOPIC, "orders"),
        (Operation.READ, TOPIC, "orders"),
    )
    assert admin.post("/topics", {"name": "new"}).status == 201
    sent = admin.post("/topics/orders/records", {"value": {"type": "STRING", "data": "v"}})
    assert sent.json["error_code"] == 200
    assert len(admin.get("/topics/orders/records").json["data"]) == 1


def test_paths_of_the_gate_are_those_of_open_routes() -> None:
    assert is_open("/healthz") and is_open("/console/main.js") and is_open("/")
    assert not any(map(is_open, ("/console/data/topics", "/topics", "/console", "/metrics")))
    assert access_of("GET /nowhere") is None
