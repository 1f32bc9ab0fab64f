"""TLS, client certificates and ACLs of the raw stream."""

from __future__ import annotations

import os
import ssl
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from tests.e2e.broker_process import command, environment
from tests.e2e.librdkafka import PATIENCE_S, admin
from tests.e2e.node_packages import program
from tests.e2e.raw.conftest import TOPIC, RawBroker, StartRaw
from tests.e2e.raw.stream import Consumer, Producer, framed, positions
from tests.fakes import certificates

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class Secured:
    def __init__(self, start: StartRaw, folder: Path, client_auth: str) -> None:
        authority, stranger = certificates.authority(), certificates.authority("stranger")
        self.files = certificates.write(
            folder,
            authority=authority.certificate_pem,
            broker=certificates.broker(authority).pem,
            alice=certificates.client(authority, "alice").pem,
            bob=certificates.client(authority, "bob").pem,
            foreign=certificates.client(stranger, "alice").pem,
        )
        settings = {
            "raw.ssl.keystore.type": "PEM",
            "raw.ssl.keystore.location": self.files["broker"],
            "raw.ssl.truststore.type": "PEM",
            "raw.ssl.truststore.location": self.files["authority"],
            "raw.ssl.client.auth": client_auth,
            "authorizer.class.name": AUTHORIZER,
            "super.users": "User:ANONYMOUS",  # the Kafka listener has no users
        }
        words = [word for name, text in settings.items() for word in ("--set", f"{name}={text}")]
        self.raw: RawBroker = start(*words, engine="memory")

    def tls(self, client: str = "") -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.files["authority"])
        if client:
            context.load_cert_chain(self.files[client])
        return context

    def producer(self, client: str = "") -> Producer:
        return Producer(self.raw.port, self.tls(client))

    def consumer(self, client: str = "", start: int = 0) -> Consumer:
        return Consumer(self.raw.port, start, self.tls(client))

    def allow(self, name: str, operation: AclOperation) -> None:
        binding = AclBinding(*self._about(name, operation), AclPermissionType.ALLOW)
        client = admin(self.raw.bootstrap)
        client.create_acls([binding])[binding].result(PATIENCE_S)

    def forbid_again(self, name: str, operation: AclOperation) -> None:
        these = AclBindingFilter(*self._about(name, operation), AclPermissionType.ALLOW)
        client = admin(self.raw.bootstrap)
        client.delete_acls([these])[these].result(PATIENCE_S)

    def _about(
        self, name: str, operation: AclOperation
    ) -> tuple[ResourceType, str, ResourcePatternType, str, str, AclOperation]:
        pattern = ResourceType.TOPIC, TOPIC, ResourcePatternType.LITERAL
        return *pattern, f"User:CN={name}", "*", operation


@pytest.fixture
def secure(start_raw: StartRaw, tmp_path: Path) -> Callable[[str], Secured]:
    return lambda client_auth: Secured(start_raw, tmp_path, client_auth)


def test_acls_of_a_certificate_decide_who_produces_and_who_consumes(
    secure: Callable[[str], Secured],
) -> None:
    secured = secure("required")
    with secured.producer("alice") as refused:
        refused.send(b"not allowed")
        assert refused.rest() == b""
    line = secured.raw.process.log_line("authorization_denied")
    assert '"principal":"User:CN=alice"' in line and '"operation":"Write"' in line
    secured.allow("alice", AclOperation.WRITE)
    secured.allow("bob", AclOperation.READ)
    records = [b"one", b"", os.urandom(500_000)]
    with secured.producer("alice") as alice, secured.consumer("bob") as bob:
        assert alice.produce(*records) == [0, 7, 11]
        assert bob.records(3) == records
        with secured.consumer("alice") as refused_consumer:
            assert refused_consumer.rest() == b""
        with secured.producer("bob") as refused:
            refused.send(b"not allowed")
            assert refused.rest() == b""
        secured.forbid_again("bob", AclOperation.READ)
        alice.produce(b"for others")
        assert bob.rest() == b""


def test_clients_without_a_good_certificate_are_refused(
    secure: Callable[[str], Secured],
) -> None:
    secured = secure("required")
    for client in ("", "foreign"):
        with pytest.raises((ssl.SSLError, ConnectionError)), secured.consumer(client) as refused:
            refused.exactly(4)
    with Consumer(secured.raw.port) as plain:
        assert plain.rest() == b""
    assert "connect with TLS" in secured.raw.process.log_line("not_tls")


def test_the_command_uses_tls(secure: Callable[[str], Secured]) -> None:
    """With more positions than one record of TLS holds."""
    secured = secure("required")
    where = (
        *(f"localhost:{secured.raw.port}", "--ca", str(secured.files["authority"])),
        *("--certificate", str(secured.files["alice"])),
    )
    for operation in (AclOperation.WRITE, AclOperation.READ):
        secured.allow("alice", operation)
    records = [b"line %d" % number for number in range(20_000)]
    lines = b"".join(record + b"\n" for record in records)
    offsets = b"".join(b"%d\n" % offset for offset in positions(records)[:-1])
    consume = ("consume", *where, "-n", str(len(records)))
    for arguments, printed in [(("produce", *where), offsets), (consume, lines)]:
        ended = subprocess.run(
            command("raw", *arguments),
            env=environment(),
            input=lines,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert ended.stdout == printed


#: Sends bytes, ends its side, and writes what it receives.
ENDS_ITS_SIDE = """
const { readFileSync } = require('node:fs')
const [port, ca, data] = process.argv.slice(1)
const broker = require('node:tls').connect({ host: 'localhost', port, ca: readFileSync(ca) })
broker.end(Buffer.from(data, 'hex'))
broker.on('data', received => process.stdout.write(received))
"""


def test_a_client_that_ends_its_side_of_tls_gets_everything(
    secure: Callable[[str], Secured],
) -> None:
    secured = secure("none")

    def node(data: bytes) -> subprocess.Popen[bytes]:
        where = (str(secured.raw.port), str(secured.files["authority"]))
        arguments = [program("node"), "-e", ENDS_ITS_SIDE, "--", *where, data.hex()]
        return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    records = [b"%d" % number for number in range(5_000)]
    with node(b"\x01" + b"".join(map(framed, records))) as producer:
        out, errors = producer.communicate(timeout=PATIENCE_S)
        assert (producer.returncode, errors) == (0, b"")
    places = positions(records)
    assert out == struct.pack(f">{len(records)}Q", *places[:-1])
    with node(b"\x02" + struct.pack(">Q", places[-2])) as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.read(8) == framed(records[-1])
        with secured.producer() as later:
            later.produce(b"next")
        assert consumer.stdout.read(8) == framed(b"next")
        consumer.kill()
