"""Kafka without an authorizer, which is its default."""

from __future__ import annotations

from interfaces.kafka.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

ANY, TOPIC, LITERAL, READ, ALLOW = 1, 2, 3, 3, 3


def one(name: str | None) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter=name,
        pattern_type_filter=LITERAL,
        principal_filter="User:alice",
        host_filter=None,
        operation=READ,
        permission_type=ALLOW,
    )


@scenario("delete_acls")
def filters(tell: Teller) -> None:
    tell.ask("one", DeleteAclsRequest(filters=[one("a")]))
    tell.ask("two", DeleteAclsRequest(filters=[one("a"), one(None)]))
    tell.ask("none", DeleteAclsRequest())


@scenario("delete_acls")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "delete_acls", b"")
