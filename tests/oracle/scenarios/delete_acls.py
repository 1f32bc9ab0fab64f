"""Kafka without an authorizer, which is its default."""

from __future__ import annotations

from interfaces.kafka.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

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
def filters(run: ScenarioRun) -> None:
    run.send("one", DeleteAclsRequest(filters=[one("a")]))
    run.send("two", DeleteAclsRequest(filters=[one("a"), one(None)]))
    run.send("none", DeleteAclsRequest())


@scenario("delete_acls")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "delete_acls", b"")
