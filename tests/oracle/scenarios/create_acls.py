"""Kafka without an authorizer, which is its default."""

from __future__ import annotations

from interfaces.kafka.wire.messages.create_acls import AclCreation, CreateAclsRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

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
def creations(tell: Teller) -> None:
    tell.ask("one", CreateAclsRequest(creations=[creation("a")]))
    tell.ask("two", CreateAclsRequest(creations=[creation("a"), creation("b")]))
    tell.ask("none", CreateAclsRequest())


@scenario("create_acls")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "create_acls", b"")
