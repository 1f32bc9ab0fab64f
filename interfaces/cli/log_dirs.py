"""`ottla cluster logdirs`: DescribeLogDirs, which confluent-kafka does not have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.cli.client import Clients
from interfaces.cli.output import show_rows
from interfaces.terminal.addresses import Address
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

    from interfaces.kafka.wire.messages.describe_log_dirs import DescribeLogDirsResponse


class Replica(NamedTuple):
    broker: int
    dir: str
    topic: str
    partition: int
    #: In bytes.
    size: int


def log_dirs(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    found, failed = replicas(clients, clients.admin())
    for line in failed:
        complain(line)
    rows = [one._asdict() for one in found if not parsed.topics or one.topic in parsed.topics]
    show_rows(rows, parsed.output, Replica._fields)
    return 1 if failed else 0


def replicas(clients: Clients, admin: AdminClient) -> tuple[list[Replica], list[str]]:
    """The replicas of all brokers, and a line for each broken log dir."""
    found: list[Replica] = []
    failed: list[str] = []
    # The stubs type every field of a broker as None.
    brokers: Iterable[Any] = clients.metadata(admin).brokers.values()
    for broker in brokers:
        address = Address(broker.host, broker.port)
        for result in _describe(clients, address).results:
            if result.error_code:
                failed.append(f"{address}: {result.log_dir} has error {result.error_code}")
            found += [
                Replica(broker.id, result.log_dir, topic.name, one.partition_index, size)
                for topic in result.topics
                for one in topic.partitions
                if (size := one.partition_size) >= 0
            ]
    return sorted(found, key=lambda one: (one.broker, one.topic, one.partition)), failed


def _describe(clients: Clients, address: Address) -> DescribeLogDirsResponse:
    from interfaces.kafka.wire.messages.describe_log_dirs import (
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
    )

    with clients.wire(f"the log dirs of {address}", address) as client:
        return client.send(DescribeLogDirsRequest(topics=None), 1, DescribeLogDirsResponse)
