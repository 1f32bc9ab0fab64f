"""What a command without an answer finds out: which reasons are final, and how long it looks."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from interfaces.cli.client import Clients
from interfaces.kafka.connections.other_protocols import rejection_of
from interfaces.kafka.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from tests.e2e.admin.cli.test_doctor import sasl, server

API_VERSIONS, SASL_HANDSHAKE, METADATA = b"\0\x12", b"\0\x11", b"\0\x03"
SASL_PLAINTEXT = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}


def clients(address: str, timeout_s: float = 0.2, **options: Any) -> Clients:
    return Clients(
        argparse.Namespace(
            client_options=list(options.items()), timeout=timeout_s, bootstrap_server=address
        )
    )


@pytest.fixture
def full() -> Iterator[str]:
    """An address that drops connection attempts, as its queue has no room."""
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def broker(connection: socket.socket, nodes: list[str], first: bytes = b"") -> None:
    """Answers ApiVersions and Metadata."""
    asked = first or connection.recv(4096)
    while asked:
        body = b"\0\0\0\0\0\3" + b"".join(
            b"".join(number.to_bytes(2, "big") for number in one)
            for one in ((0, 0, 13), (1, 0, 18), (3, 0, 13))
        )
        if asked[4:6] == METADATA:
            brokers = [
                MetadataResponseBroker(node_id=number, host="127.0.0.1", port=int(node[10:]))
                for number, node in enumerate(nodes)
            ]
            answer = MetadataResponse(brokers=brokers, cluster_id="c", topics=[])
            body = b"".join(map(bytes, answer.encode(4)))
        connection.sendall((len(body) + 4).to_bytes(4, "big") + asked[8:12] + body)
        asked = connection.recv(4096)


def silent(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def test_a_slow_broker_may_answer_later_whatever_its_port_says_to_tls_and_http() -> None:
    def answer(connection: socket.socket) -> None:
        asked = connection.recv(4096)
        if rejection := rejection_of(asked[:4], ()):
            connection.sendall(rejection.answer)
        else:
            connection.recv(1)

    with server(answer) as address:
        why, may_pass = clients(address).why_silent(3)
    assert "does not answer as a broker (nothing came within the timeout)" in why
    assert may_pass


def test_another_server_that_only_stays_silent_to_kafka_may_be_a_slow_proxy() -> None:
    def answer(connection: socket.socket) -> None:
        if b"HTTP" in connection.recv(4096):
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        else:
            connection.recv(1)

    with server(answer) as address:
        why, may_pass = clients(address).why_silent(3)
    assert "is an HTTP server" in why
    assert may_pass


def test_a_broker_that_stalls_in_its_sasl_handshake_may_answer_later() -> None:
    def answer(connection: socket.socket) -> None:
        asked = connection.recv(4096)
        if asked[4:6] == API_VERSIONS:
            broker(connection, [], asked)
        else:
            connection.recv(1)

    with server(answer) as address:
        why, may_pass = clients(address, **SASL_PLAINTEXT).why_silent(3)
    assert "does not answer the SASL handshake" in why
    assert may_pass


def test_a_connection_that_is_slow_to_be_made_may_be_made_later(full: str) -> None:
    why, may_pass = clients(full).why_silent(3)
    assert "does not answer to a connection" in why
    assert may_pass
    clients(full).look()  # as before it has a client


def test_an_advertised_address_that_is_slow_to_connect_may_pass(full: str) -> None:
    with server(lambda connection: broker(connection, [full])) as address:
        why, may_pass = clients(address).why_silent(3)
    assert f"{full}, which cannot be reached from here: no answer to the connection" in why
    assert may_pass


def test_a_resolver_that_fails_for_now_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    why, may_pass = clients("broker.invalid:9092").why_silent(3)
    assert "cannot be resolved (temporary failure" in why
    assert may_pass
    clients("broker.invalid:9092").look()


def test_it_looks_at_nodes_until_one_works() -> None:
    asked: list[socket.socket] = []
    nodes: list[str] = []
    with (
        server(lambda connection: broker(connection, nodes)) as address,
        server(asked.append) as other,
    ):
        nodes += [address, other]
        assert clients(address).why_silent(3)[0] == ""
    assert asked == []


def test_it_ends_at_its_deadline_however_many_nodes_are_silent() -> None:
    asked: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        asked.append(connection.recv(4096))
        silent(connection)

    with (
        server(answer) as other,
        server(lambda connection: broker(connection, [other] * 20)) as address,
    ):
        why, may_pass = clients(address, 0.2).why_silent(0.6)
    assert f"broker 0 tells clients to connect to {other}, where no broker answers" in why
    assert "broker 19" not in why
    assert may_pass


def test_a_node_that_was_not_looked_at_for_want_of_time_may_work(full: str) -> None:
    gone = "127.0.0.1:1"
    with server(lambda connection: broker(connection, [gone, full, gone])) as address:
        why, may_pass = clients(address, 0.1).why_silent(0.05)
    assert "broker 2" not in why
    assert may_pass


def test_a_wrong_mechanism_is_final() -> None:
    options = SASL_PLAINTEXT | {"sasl.mechanism": "SCRAM-SHA-256"}
    with server(sasl) as address:
        why, may_pass = clients(address, **options).why_silent(3)
    assert "offers the SASL mechanisms PLAIN" in why
    assert not may_pass
