from __future__ import annotations

from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


@scenario("describe_cluster")
def the_cluster(run: ScenarioRun) -> None:
    run.send("plain", DescribeClusterRequest())
    run.send("operations", DescribeClusterRequest(include_cluster_authorized_operations=True))


@scenario("describe_cluster", first=1)
def endpoint_types(run: ScenarioRun) -> None:
    for kind in (0, 2, 3):
        run.send(f"type {kind}", DescribeClusterRequest(endpoint_type=kind))


@scenario("describe_cluster", first=2)
def fenced_brokers(run: ScenarioRun) -> None:
    run.send("requested", DescribeClusterRequest(include_fenced_brokers=True))


@scenario("describe_cluster")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_cluster", b"")
    run.send_raw("a true that is 7", "describe_cluster", b"\x07\x01\0\0"[: run.version + 1] + b"\0")
