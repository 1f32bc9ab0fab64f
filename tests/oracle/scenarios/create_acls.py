"""Kafka without an authorizer, which is its default."""

from __future__ import annotations

from interfaces.kafka.wire.messages.create_acls import AclCreation, CreateAclsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

TOPIC, LITERAL, READ, ALLOW = 2, 3, 3, 3


def creation(name: str) -> AclCreation:
    return AclCreation(
        resource_type=TOPIC,
        resource_name=name,
        resource_pattern_type=LITERAL,
        principal="User:alice",
        host="*",
        operation=READ,
        permission_type=ALLOW,
    )


@scenario("create_acls")
def creations(run: ScenarioRun) -> None:
    run.send("one", CreateAclsRequest(creations=[creation("a")]))
    run.send("two", CreateAclsRequest(creations=[creation("a"), creation("b")]))
    run.send("none", CreateAclsRequest())


@scenario("create_acls")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "create_acls", b"")
