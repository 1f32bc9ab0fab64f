"""Problems that `ottla doctor` finds behind a port, and which of them may pass."""

from __future__ import annotations

import argparse
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interfaces.cli.client import Clients
from interfaces.cli.probe.checks import checked
from interfaces.cli.probe.finding import NOTE, OK, PROBLEM, Finding
from interfaces.cli.probe.pace import Pace
from interfaces.cli.probe.talking import Protocol
from interfaces.kafka.connections.rejections import rejection_of
from interfaces.terminal.addresses import addresses
from tests.fakes.tcp_servers import (
    REFUSED,
    VERSIONS,
    Serve,
    broker,
    http_only,
    responding,
    sasl,
    sasl_stalls,
    server,
)

SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
PLAIN = SASL | {"sasl.username": "anna", "sasl.password": "secret"}
SCRAM = SASL | {"sasl.mechanism": "SCRAM-SHA-256"}
TLS = {"security.protocol": "SSL"}


def problem(address: str, options: dict[str, str] | None = None, step_s: float = 2.0) -> Finding:
    """The first problem; each has a remedy."""
    [where] = addresses(address)
    found = checked(where, Protocol(options or {}), Pace(step_s), every_node=True)
    problems = [one for one in found if one.level == PROBLEM]
    assert problems and all(one.remedy for one in problems)
    return problems[0]


def broker_at(advertised: str) -> Serve:
    return lambda connection: broker(connection, [advertised])


def broker_with(versions: dict[int, tuple[int, int]]) -> Serve:
    return lambda connection: broker(connection, [], versions=versions)


@pytest.mark.parametrize(
    ("serve", "options", "found"),
    [
        (responding(b"HTTP/1.1 400 Bad Request\r\n\r\n"), {}, "an HTTP server"),
        (responding(b"SSH-2.0-OpenSSH_9.2\r\n"), {}, "an SSH server"),
        (http_only, {}, "an HTTP server"),
        (responding(b""), {}, "does not respond as a Kafka broker"),
        (responding(b"\0\0\0\x08\0\0\0\1\0\x23"), {}, "does not respond as a Kafka broker"),
        (responding(b"-ERR unknown command\r\n"), {}, "-ERR"),
        (lambda connection: broker(connection, []), TLS, "does not speak TLS"),
        (sasl, {}, "requires SASL authentication (PLAIN)"),
        (sasl, SCRAM, "offers the SASL mechanisms PLAIN"),
        (sasl, PLAIN, REFUSED),
        (lambda connection: sasl(connection, ["127.0.0.1:1"]), PLAIN, "advertises 127.0.0.1:1"),
        (lambda connection: broker(connection, []), SASL, "does not support SASL"),
        (lambda connection: broker(connection, []), {}, "has no broker"),
        (broker_at("0.0.0.0:9092"), {}, "clients cannot connect to"),
        (broker_at("no-such-host.invalid:9092"), {}, "cannot be resolved"),
        (broker_with(VERSIONS | {0: (0, 2)}), {}, "does not serve Produce 3"),
        (broker_with({3: (0, 13)}), {}, "does not serve Produce 3"),
    ],
)
def test_the_server_behind_a_port_is_recognised(
    serve: Serve, options: dict[str, str], found: str
) -> None:
    with server(serve) as address:
        assert found in problem(address, options, 0.3).what


def test_advertised_addresses_are_checked_as_the_user_of_the_client() -> None:
    nodes: list[str] = []
    with server(lambda connection: sasl(connection, nodes)) as address:
        [where] = addresses(address)
        nodes.append(address)
        found = checked(where, Protocol(PLAIN), Pace(2.0), every_node=True)
        *_, last = found
    assert (last.level, last.what) == (OK, f"broker 0 advertises {address}, which works")


def test_advertised_addresses_that_are_not_checked_are_reported() -> None:
    with server(lambda connection: sasl(connection, mechanism="OAUTHBEARER")) as address:
        [where] = addresses(address)
        protocol = Protocol(SASL | {"sasl.mechanism": "OAUTHBEARER"})
        *_, last = checked(where, protocol, Pace(2.0), every_node=True)
    assert (last.level, "are not checked with OAUTHBEARER" in last.what) == (NOTE, True)


def test_of_several_brokers_each_has_an_address_of_its_own() -> None:
    nodes: list[str] = []
    with server(lambda connection: broker(connection, nodes)) as address:
        [where] = addresses(address)
        nodes += [address, "127.0.0.1:1", address]
        *_, first, second, third = checked(where, Protocol({}), Pace(2.0), every_node=True)
        assert clients(address).why_silent(3) == ("", True)
    at = f"advertises {address}, and so does broker"
    assert first.what == f"broker 0 {at} 2: clients reach one of them only"
    assert third.what == f"broker 2 {at} 0: clients reach one of them only"
    assert "is unreachable from here" in second.what
    assert [one.remedy for one in (first, second, third)] == [
        f"set advertised.listeners of broker {node} to an address of its own" for node in range(3)
    ]


def test_a_name_and_a_port_without_a_server_are_named() -> None:
    assert "cannot be resolved" in problem("no-such-host.invalid:9092").what
    assert "no process listens" in problem("127.0.0.1:1").what


def test_the_remedy_for_a_port_without_tls_has_the_sasl_of_the_client() -> None:
    with server(lambda connection: broker(connection, [])) as address:
        found = problem(address, PLAIN | {"security.protocol": "SASL_SSL"})
    assert "security.protocol=SASL_PLAINTEXT," in found.remedy


def test_tls_is_recognised_and_its_certificate_checked(tmp_path: Path) -> None:
    file, public = tmp_path / "certificate.pem", tmp_path / "public"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=localhost", "-keyout", str(file), "-out", str(public)),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + public.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    def handshake(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(1)

    with server(handshake) as address:
        assert "speaks TLS" in problem(address).what
        assert "security.protocol=SASL_SSL " in problem(address, PLAIN).remedy
        assert "is not trusted" in problem(address, TLS).what


# ---- within another command


def clients(address: str, timeout_s: float = 0.2, **options: Any) -> Clients:
    return Clients(
        argparse.Namespace(
            client_options=list(options.items()),
            timeout=timeout_s,
            bootstrap_server=address,
            profile=None,
            command_config=None,
        )
    )


@pytest.fixture
def full() -> Iterator[str]:
    """An address that drops connection attempts, as its queue is full."""
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def slow_ottla(connection: socket.socket) -> None:
    """Rejects TLS and HTTP, and does not respond to Kafka requests."""
    if rejection := rejection_of(connection.recv(4096)[:4], ()):
        connection.sendall(rejection.response)
    else:
        connection.recv(1)


@pytest.mark.parametrize(
    ("serve", "options", "may_pass"),
    [
        (slow_ottla, {}, True),
        (http_only, {}, True),  # a proxy of a slow broker may do this
        (sasl_stalls, SASL, True),
        (sasl, SCRAM, False),
        (responding(b"HTTP/1.1 400 Bad Request\r\n\r\n"), {}, False),
    ],
)
def test_a_slow_broker_may_respond_later(
    serve: Serve, options: dict[str, str], may_pass: bool
) -> None:
    with server(serve) as address:
        why, passes = clients(address, **options).why_silent(3)
    assert (bool(why), passes) == (True, may_pass)


def test_dropped_connection_attempts_may_succeed_later(full: str) -> None:
    why, may_pass = clients(full).why_silent(3)
    assert (full in why, may_pass) == (True, True)
    clients(full).check_reachable()
    with server(lambda connection: broker(connection, [full])) as address:
        why, may_pass = clients(address).why_silent(3)
    assert (f"advertises {full}" in why, may_pass) == (True, True)


def test_a_temporary_failure_of_the_name_server_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    why, may_pass = clients("broker.invalid:9092").why_silent(3)
    assert (bool(why), may_pass) == (True, True)
    clients("broker.invalid:9092").check_reachable()


def test_nodes_are_checked_until_one_works() -> None:
    connected: list[socket.socket] = []
    nodes: list[str] = []
    with (
        server(lambda connection: broker(connection, nodes)) as address,
        server(connected.append) as other,
    ):
        nodes += [address, other]
        assert clients(address).why_silent(3)[0] == ""
    assert connected == []


def test_the_checks_end_at_their_deadline_and_unchecked_nodes_may_work(full: str) -> None:
    with server(lambda connection: broker(connection, ["127.0.0.1:1", full] * 10)) as address:
        why, may_pass = clients(address, 0.1).why_silent(0.05)
    assert ("broker 19" not in why, may_pass) == (True, True)
