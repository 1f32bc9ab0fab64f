"""Commands that get no answer: the reason within seconds, whatever --timeout is."""

from __future__ import annotations

import os
import signal
import socket
import ssl
from pathlib import Path

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.admin.cli.test_doctor import REFUSED, sasl, server
from tests.e2e.broker_process import BrokerProcess

#: Much longer than the patience of the tests.
WAITS = ("--timeout", "1h")


def the_reason(ottla: Ottla, *arguments: str) -> str:
    said = ottla.run(*arguments, *WAITS, stdin=b"x\n", code=1)
    [line] = said.errors.splitlines()
    return line


def test_an_http_port_is_named(ottla: Ottla) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with server(answer) as address:
        line = the_reason(ottla, "topic", "list", "-b", address)
        assert line.startswith(f"ottla: {address} is an HTTP server, no broker")
        assert "receive.message.max.bytes" not in line
        assert "HTTP server" in ottla.run("cluster", "health", *WAITS, "-b", address, code=1).out


def test_a_tls_port_is_named(ottla: Ottla, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def shake(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(1)

    with server(shake) as address:
        line = the_reason(ottla, "produce", "-t", "x", "-b", address)
    assert f"{address} speaks TLS, and the client does not. Remedy: -X security" in line


def test_a_broker_that_requires_sasl_and_a_wrong_password_are_named(ottla: Ottla) -> None:
    with server(sasl) as address:
        assert "authenticate with SASL (PLAIN)" in the_reason(ottla, "consume", "x", "-b", address)
        account = ("sasl.mechanism=PLAIN", "sasl.username=anna", "sasl.password=old")
        options = [word for one in account for word in ("-X", one)]
        line = the_reason(
            ottla, "topic", "create", "x", "-b", address, "-X", "security.protocol=SASL_PLAINTEXT",
            *options,
        )  # fmt: skip
        assert REFUSED in line


def test_an_advertised_address_that_cannot_be_reached_is_named(
    ottla: Ottla, tmp_path: Path
) -> None:
    wrong = ["--set", "advertised.listeners=PLAINTEXT://127.0.0.1:1"]
    with BrokerProcess(tmp_path, "memory", wrong) as broker:
        for arguments in (("produce", "-t", "x"), ("consume", "x", "-g", "g")):
            line = the_reason(ottla, *arguments, "-b", broker.bootstrap)
            assert "clients to connect to 127.0.0.1:1, which cannot be reached" in line


def test_a_broker_that_is_only_slow_is_waited_for(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, "memory") as broker:
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            process = Ottla(broker.bootstrap).start("topic", "create", "x", "--timeout", "60")
            assert process.stderr is not None
            line = process.stderr.readline().decode()
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        out, errors = process.communicate(timeout=PATIENCE_S)
    assert "takes the connection and then does not answer" in line
    assert (process.returncode, out, errors) == (0, b"x is created\n", b"")
