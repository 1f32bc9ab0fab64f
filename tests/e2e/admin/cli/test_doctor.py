"""Each way in which a client cannot connect, made for real, and what the doctor says of it."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.admin.cli.test_cluster import nobody
from tests.e2e.broker_process import BrokerProcess


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Answers every connection so."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        answer(connection)
                    except OSError:
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def problems(ottla: Ottla, *arguments: str) -> str:
    found = json.loads(ottla.run("doctor", "-o", "json", *arguments, code=1).out)
    bad = [one for one in found if one["level"] == "problem"]
    assert bad
    assert all(one["remedy"] for one in bad)
    return " ".join(one["what"] for one in bad)


def test_a_broker_that_works_is_exit_code_zero(ottla: Ottla) -> None:
    said = ottla.run("doctor")
    assert all(line.startswith("ok ") for line in said.lines)
    assert "speaks Kafka's protocol" in said.out
    assert "a client of librdkafka connects" in said.lines[-1]


def test_nobody_listens(ottla: Ottla) -> None:
    assert "nothing listens there" in problems(ottla, "-b", nobody())


def test_a_name_that_there_is_not(ottla: Ottla) -> None:
    assert "cannot be resolved" in problems(ottla, "-b", "no-such-host.invalid:9092")


@pytest.mark.parametrize(
    "advertised, words",
    [
        ("127.0.0.1:1", "which cannot be reached from here: connection refused"),
        ("no-such-host.invalid:9092", "the name cannot be resolved"),
    ],
)
def test_an_advertised_address_that_cannot_be_reached(
    ottla: Ottla, tmp_path: Path, advertised: str, words: str
) -> None:
    told = ["--set", f"advertised.listeners=PLAINTEXT://{advertised}"]
    with BrokerProcess(tmp_path, "memory", told) as broker:
        said = problems(ottla, "-b", broker.bootstrap)
    assert f"broker 1 tells clients to connect to {advertised}" in said
    assert words in said


def test_an_advertised_address_of_another_cluster(
    ottla: Ottla, tmp_path: Path, cli_broker: BrokerProcess
) -> None:
    told = ["--set", f"advertised.listeners=PLAINTEXT://{cli_broker.bootstrap}"]
    with BrokerProcess(tmp_path, "memory", told) as broker:
        assert "where another cluster answers" in problems(ottla, "-b", broker.bootstrap)


def test_plain_on_a_tls_port_and_a_certificate_of_nobody(ottla: Ottla, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def shake(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(1)

    with server(shake) as address:
        assert "speaks TLS, and the client does not" in problems(ottla, "-b", address)
        said = problems(ottla, "-b", address, "-X", "security.protocol=SSL")
        assert "certificate that is not trusted" in said


def test_tls_on_a_plain_port(ottla: Ottla) -> None:
    said = problems(ottla, "-X", "security.protocol=SSL")
    assert "does not speak TLS, and the client does" in said


#: Of a listener with PLAIN: the first and last version of each API.
VERSIONS = {0: (3, 13), 1: (3, 18), 3: (3, 13), 17: (0, 1), 18: (0, 0), 36: (0, 1)}
REFUSED = "Authentication failed: Invalid username or password"


def sasl(connection: socket.socket) -> None:
    """As a listener of Kafka with PLAIN where every password is wrong: versions, handshakes, a
    refusal, and nothing else before them."""
    while asked := connection.recv(4096):
        key, version, correlation_id = asked[4:6], asked[6:8], asked[8:12]
        if key == b"\0\x12":
            # Later versions than 0 are answered so by every broker that does not know them.
            body = b"\0\0" if version == b"\0\0" else b"\0\x23"
            body += len(VERSIONS).to_bytes(4, "big")
            for api, versions in VERSIONS.items():
                body += b"".join(number.to_bytes(2, "big") for number in (api, *versions))
        elif key == b"\0\x11":
            known = asked.endswith(b"\0\x05PLAIN")
            body = (b"\0\0" if known else b"\0\x21") + b"\0\0\0\1\0\x05PLAIN"
        elif key == b"\0\x24":
            why = REFUSED.encode()
            # SASL_AUTHENTICATION_FAILED, why, no bytes, and the session's lifetime.
            body = b"\0\x3a" + len(why).to_bytes(2, "big") + why + bytes(4)
            body += bytes(8) if version == b"\0\1" else b""
        else:
            return
        connection.sendall((len(body) + 4).to_bytes(4, "big") + correlation_id + body)


def test_a_broker_that_wants_a_password(ottla: Ottla) -> None:
    with server(sasl) as address:
        found = ottla.run("doctor", "-b", address, code=1).lines[-1]
        assert "wants clients to authenticate with SASL (PLAIN), and the client does not" in found
        assert "-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=PLAIN" in found
        wanting = ("-b", address, "-X", "security.protocol=SASL_PLAINTEXT")
        other = problems(ottla, *wanting, "-X", "sasl.mechanism=SCRAM-SHA-256")
        assert "offers the SASL mechanisms PLAIN, and the client wants SCRAM-SHA-256" in other
        assert "the client wants GSSAPI" in problems(ottla, *wanting)


def test_a_wrong_password(ottla: Ottla) -> None:
    with server(sasl) as address:
        wanting = ("-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN")
        account = ("-X", "sasl.username=anna", "-X", "sasl.password=of-another-day")
        said = ottla.run(
            *("doctor", "-b", address, "--timeout", "3", "-o", "json", *wanting, *account), code=1
        )
    *before, last = json.loads(said.out)
    assert [one["level"] for one in before] == ["ok"] * len(before)
    assert before[-1]["what"] == f"{address} offers the SASL mechanisms PLAIN"
    assert last["level"] == "problem"
    assert last["what"].startswith("a client cannot connect all the same: ")
    assert REFUSED in last["what"]
    assert last["remedy"] == "check -X sasl.username and sasl.password"
    assert "of-another-day" not in said.out + said.errors


def test_a_password_for_a_broker_that_wants_none(ottla: Ottla) -> None:
    said = problems(ottla, "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN")
    assert "does not let clients authenticate with SASL, and the client wants to" in said


@pytest.mark.parametrize(
    "first_bytes, words",
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is an HTTP server, no broker; process "),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is an SSH server, no broker"),
        (b"", "does not answer as a broker"),
        (b"\0\0\0\x08\0\0\0\1\0\x23", "does not answer as a broker"),
    ],
)
def test_something_else_behind_the_port(ottla: Ottla, first_bytes: bytes, words: str) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(first_bytes)

    with server(answer) as address:
        assert words in problems(ottla, "-b", address)


def test_a_server_that_speaks_only_when_it_is_spoken_to(ottla: Ottla) -> None:
    def answer(connection: socket.socket) -> None:
        if b"HTTP" in connection.recv(4096):
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        else:
            connection.recv(1)

    with server(answer) as address:
        assert "is an HTTP server" in problems(ottla, "-b", address, "--timeout", "0.5")


@pytest.mark.parametrize(
    "known, words",
    [
        ({0: (0, 2), 1: (0, 3), 3: (0, 4), 18: (0, 0)}, "up to version 2 only"),
        ({0: (99, 99), 1: (4, 18), 3: (0, 13), 18: (0, 4)}, "from version 99 on only"),
        ({18: (0, 4)}, "does not serve Produce to clients"),
    ],
)
def test_a_broker_of_another_time(
    ottla: Ottla, known: dict[int, tuple[int, int]], words: str
) -> None:
    def answer(connection: socket.socket) -> None:
        asked = connection.recv(4096)
        body = asked[8:12] + b"\0\0" + len(known).to_bytes(4, "big")
        for key, versions in known.items():
            body += b"".join(number.to_bytes(2, "big") for number in (key, *versions))
        connection.sendall(len(body).to_bytes(4, "big") + body)

    with server(answer) as address:
        assert words in problems(ottla, "-b", address, "--timeout", "1")
