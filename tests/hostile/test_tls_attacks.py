"""Clients that stall in the TLS handshake."""

from __future__ import annotations

import socket
import ssl
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from domain.configs.broker import BrokerConfig
from tests.e2e.broker_process import BrokerProcess
from tests.fakes import certificates
from tests.hostile.attack import SETTINGS, Attacked, Endurance, may_open
from tests.hostile.promise import promised_bytes, tls_bytes

#: Measured for a stalled handshake without a limit.
STALLED_BYTES = 47 << 10


def hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="x")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def shake_hands(port: int, authority: Path) -> None:
    context = ssl.create_default_context(cafile=str(authority))
    source = ("127.0.0.2", 0)  # another address
    with socket.create_connection(("127.0.0.1", port), 30, source) as plain:
        context.wrap_socket(plain, server_hostname="localhost").close()


@pytest.mark.parametrize("stalled", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_stalled_handshakes_take_the_memory_of_the_limit(tmp_path: Path, stalled: int) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("reads a process's own memory from /proc")
    if not may_open(stalled + 2_000):
        pytest.skip(f"the limit of open files cannot be raised to {stalled + 2_000}")
    authority = certificates.authority()
    files = certificates.write(
        tmp_path, broker=certificates.broker(authority).pem, authority=authority.certificate_pem
    )
    settings = SETTINGS | {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(files["broker"]),
        "ssl.handshakes.max": "200",
        "ssl.handshakes.max.per.ip": "100",
        "ssl.handshake.timeout.ms": "60000",
        "max.connections": "12000",
    }
    words = [word for name in settings for word in ("--set", f"{name}={settings[name]}")]
    listen = ["--listen", "PLAINTEXT://127.0.0.1:0", "--listen", "SSL://0.0.0.0:0"]
    broker = BrokerProcess(tmp_path, "memory", [*listen, *words])
    with broker, ExitStack() as held:
        attacked = Attacked(broker, BrokerConfig(settings))
        port = broker.ready["listeners"][1]["port"]
        before_bytes = broker.resident_anonymous_kib() * 1024
        with Endurance(broker) as endured:
            first = hello()
            for _ in range(stalled):
                client = held.enter_context(socket.create_connection(("127.0.0.1", port)))
                client.sendall(first)
            shake_hands(port, files["authority"])
            endured.go_on()
        assert endured.failure is None
        grown_bytes = endured.most_bytes - before_bytes
        limit_bytes = tls_bytes(attacked.config, 100, 0) + 12 * 1024 * stalled
        assert grown_bytes < limit_bytes < STALLED_BYTES * stalled, "no attack at all"
        promised = promised_bytes(attacked.config, stalled + 2, 1)
        assert endured.most_bytes <= promised + tls_bytes(attacked.config, 100, 0)
        print(f"\n{grown_bytes / 1024 / stalled:.1f} KiB for each of {stalled} stalled handshakes")
