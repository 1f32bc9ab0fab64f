"""Which broker a command connects to, over real sockets."""

from __future__ import annotations

import socket

import pytest

from interfaces.cli.probe.wire_client import first_responding
from interfaces.terminal.addresses import Address, addresses
from interfaces.terminal.reachable import BrokerUnreachable
from tests.fakes.tcp_servers import VERSIONS, broker, server

CLOSED = "127.0.0.1:1"


def hanging(connection: socket.socket) -> None:
    """As a broker that is stopped: the kernel accepts connections, nothing responds."""
    while connection.recv(4096):
        pass


def of(*servers: str) -> list[Address]:
    return addresses(",".join(servers))


def test_a_broker_that_hangs_is_passed_over() -> None:
    with (
        server(hanging) as silent,
        server(lambda one: broker(one, [])) as serving,
        first_responding(of(CLOSED, silent, serving), 0.9, None) as client,
    ):
        assert client.versions == {key: newest for key, (_, newest) in VERSIONS.items()}


def test_each_broker_without_a_response_is_named_with_its_reason() -> None:
    with server(hanging) as silent, pytest.raises(BrokerUnreachable) as unreachable:
        first_responding(of(CLOSED, silent), 0.2, None)
    assert str(unreachable.value) == (
        f"no broker at {CLOSED}: connection refused; {silent}: no response within the timeout"
    )
