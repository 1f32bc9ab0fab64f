from __future__ import annotations

from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


@scenario("describe_cluster")
def the_cluster(tell: Teller) -> None:
    tell.ask("plain", DescribeClusterRequest())
    tell.ask("operations", DescribeClusterRequest(include_cluster_authorized_operations=True))


@scenario("describe_cluster", first=1)
def endpoint_types(tell: Teller) -> None:
    for kind in (0, 2, 3):
        tell.ask(f"type {kind}", DescribeClusterRequest(endpoint_type=kind))


@scenario("describe_cluster", first=2)
def fenced_brokers(tell: Teller) -> None:
    tell.ask("asked for", DescribeClusterRequest(include_fenced_brokers=True))


@scenario("describe_cluster")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_cluster", b"")
    tell.ask_raw(
        "a true that is 7", "describe_cluster", b"\x07\x01\0\0"[: tell.version + 1] + b"\0"
    )
