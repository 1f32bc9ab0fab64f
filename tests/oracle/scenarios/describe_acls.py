"""Kafka without an authorizer, which is its default."""

from __future__ import annotations

from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

ANY, TOPIC, LITERAL, READ, ALLOW = 1, 2, 3, 3, 3


@scenario("describe_acls")
def filters(run: ScenarioRun) -> None:
    anything = DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    run.send("all of them", anything)
    one = DescribeAclsRequest(
        resource_type_filter=TOPIC,
        resource_name_filter="t",
        pattern_type_filter=LITERAL,
        principal_filter="User:alice",
        host_filter="*",
        operation=READ,
        permission_type=ALLOW,
    )
    run.send("one of them", one)


@scenario("describe_acls")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_acls", b"")
