"""Clients over TLS: one broker with a listener for all, and one that requires certificates."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import BrokerProcess, command, environment, wait_until
from tests.e2e.conftest import unused_topic_name
from tests.e2e.line_process import LineProcess
from tests.e2e.node_packages import kafkajs_command
from tests.e2e.test_java import SOURCE, VERSIONS, compiled
from tests.fakes import certificates

JAVA = SOURCE.with_name("AnyListener.java")
PATIENCE_S = 20.0


@dataclass
class Secured:
    broker: BrokerProcess
    tls: str
    #: Requires a certificate of the authority.
    mutual: str
    authority: certificates.Certified
    files: dict[str, Path]

    def librdkafka(self, client: str = "", **more: Any) -> dict[str, Any]:
        settings = {"bootstrap.servers": self.tls, "ssl.ca.location": str(self.files["authority"])}
        if client:
            file = str(self.files[client])
            own = {"ssl.certificate.location": file, "ssl.key.location": file}
            settings |= {"bootstrap.servers": self.mutual, **own}
        return {**settings, "security.protocol": "SSL", "log_level": 0} | more

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.broker.log().splitlines()
        found = [json.loads(line) for line in lines if f'"event":"{name}"' in line]
        return found


def arguments(files: dict[str, Path]) -> list[str]:
    settings = {
        "listener.security.protocol.map": "TLS:SSL,MUTUAL:SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": files["broker"],
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.truststore.type": "PEM",
        "listener.name.mutual.ssl.truststore.location": files["trusted"],
    }
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return ["--listen", "TLS://0.0.0.0:0", "--listen", "MUTUAL://127.0.0.1:0", *words]


def start(folder: Path, days: float = 2) -> Secured:
    authority, stranger = certificates.authority(), certificates.authority("stranger")
    files = certificates.write(
        folder,
        authority=authority.certificate_pem,
        trusted=authority.certificate_pem,
        broker=certificates.broker(authority, days=days, rsa_bits=2048).pem,
        alice=certificates.client(authority, "alice", o="Ottla, Inc.").pem,
        foreign=certificates.client(stranger, "alice").pem,
        expired=certificates.client(authority, "alice", days=-1).pem,
        stranger=stranger.certificate_pem,
    )
    broker = BrokerProcess(folder / "broker", "memory", arguments(files))
    broker.start()
    tls, mutual = (f"127.0.0.1:{one['port']}" for one in broker.ready["listeners"])
    return Secured(broker, tls, mutual, authority, files)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    found = start(tmp_path_factory.mktemp("tls"))
    yield found
    assert found.broker.terminate() == 0, found.broker.log()


def created(secured: Secured, client: str = "") -> str:
    name = unused_topic_name()
    admin = AdminClient(secured.librdkafka(client))
    admin.create_topics([NewTopic(name, 1)])[name].result(PATIENCE_S)
    return name


def read(settings: dict[str, Any], topic: str, count: int) -> list[bytes]:
    consumer = Consumer(settings | {"group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[bytes] = []
    try:
        while len(found) < count:
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            assert message.error() is None, message.error()
            found.append(message.value() or b"")
    finally:
        consumer.close()
    return found


# ---- clients


@pytest.mark.parametrize("client", ["", "alice"])
def test_librdkafka_produces_and_consumes(secured: Secured, client: str) -> None:
    topic = created(secured, client)
    settings = secured.librdkafka(client)
    producer = Producer(settings)
    values = [b"%d" % number + b"x" * 300_000 for number in range(20)]
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(PATIENCE_S) == 0
    assert read(settings, topic, len(values)) == values


def test_the_principal_is_the_name_of_the_certificate(secured: Secured) -> None:
    known, unknown = created(secured, "alice"), created(secured)
    principals = {line["topic"]: line["principal"] for line in secured.events("topic_created")}
    assert principals[known] == r"User:CN=alice,O=Ottla\, Inc."
    assert principals[unknown] == "User:ANONYMOUS"


@pytest.mark.parametrize(
    "version", [VERSIONS[0], pytest.param(VERSIONS[1], marks=pytest.mark.long)]
)
def test_java_produces_and_consumes(secured: Secured, tmp_path: Path, version: str) -> None:
    common = "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={}\n"
    common = common.format(secured.files["authority"])
    alice = f"ssl.keystore.type=PEM\nssl.keystore.location={secured.files['alice']}\n"
    strict = "retries=0\nmax.block.ms=10000\nenable.idempotence=false\n"
    java = LineProcess(compiled(version, JAVA), tmp_path / "stderr")
    try:
        for number, (bootstrap, more) in enumerate(
            ((secured.tls, ""), (secured.mutual, alice), (secured.mutual, strict))
        ):
            file = tmp_path / f"{number}.properties"
            file.write_text(f"bootstrap.servers={bootstrap}\n{common}{more}")
            answer = java.request(f"{file} {created(secured)} 200000")
            if more != strict:
                assert answer == "ok 20"
            else:
                assert answer.startswith("SslAuthenticationException "), answer
    finally:
        java.close()


@pytest.mark.long
def test_kafkajs_produces(secured: Secured) -> None:
    node, where = kafkajs_command("any_listener.js")
    topic = created(secured)
    pem = secured.files["alice"].read_text()
    request = {"bootstrap": secured.mutual, "topic": topic, "cert": pem, "key": pem}
    request["ca"] = secured.files["authority"].read_text()
    done = subprocess.run(
        node, input=json.dumps(request), env=os.environ | where, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.returncode) == ("0", 0), done.stderr
    assert read(secured.librdkafka(), topic, 2)[1] == b"end"


@pytest.mark.long
def test_aiokafka_produces_and_consumes(secured: Secured) -> None:
    topic = created(secured)
    context = ssl.create_default_context(cafile=str(secured.files["authority"]))
    context.load_cert_chain(secured.files["alice"])
    common: dict[str, Any] = {
        "bootstrap_servers": secured.mutual, "security_protocol": "SSL", "ssl_context": context
    }  # fmt: skip

    async def story() -> bytes:
        async with AIOKafkaProducer(**common) as producer:
            await producer.send_and_wait(topic, b"x" * 500_000)
        async with AIOKafkaConsumer(**common) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            await consumer.seek_to_beginning()
            return bytes((await consumer.getone()).value)

    assert len(asyncio.run(asyncio.wait_for(story(), PATIENCE_S))) == 500_000


@pytest.mark.long
@pytest.mark.skipif(shutil.which("kcat") is None, reason="no kcat on this machine")
def test_kcat_produces_and_consumes(secured: Secured) -> None:
    topic = created(secured)
    options = [f"-X{name}={value}" for name, value in secured.librdkafka("alice").items()]
    produce = ["kcat", "-b", secured.mutual, *options, "-P", "-t", topic]
    subprocess.run(produce, input=b"one\ntwo\n", check=True, timeout=PATIENCE_S)
    consume = ["kcat", "-b", secured.mutual, *options, "-C", "-e", "-q", "-t", topic]
    done = subprocess.run(consume, check=True, timeout=PATIENCE_S, stdout=subprocess.PIPE)
    assert done.stdout == b"one\ntwo\n"


# ---- clients that are refused


def alert(address: str, authority: Path, client: Path | None = None) -> str:
    """The reason of the TLS alert that the broker sends to this client."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(cafile=str(authority))
    if client is not None:
        context.load_cert_chain(client)
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE_S) as plain,
        pytest.raises(ssl.SSLError) as failure,
        context.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        wrapped.recv(1)
    return str(failure.value.reason)


@pytest.mark.parametrize(
    "client, reason",
    [
        ("", "TLSV13_ALERT_CERTIFICATE_REQUIRED"),
        ("foreign", "TLSV1_ALERT_UNKNOWN_CA"),
        ("expired", "SSLV3_ALERT_CERTIFICATE_EXPIRED"),
    ],
)
def test_clients_without_a_good_certificate_are_refused(
    secured: Secured, client: str, reason: str
) -> None:
    file = secured.files.get(client)
    assert alert(secured.mutual, secured.files["authority"], file) == reason
    reasons = {line["reason"] for line in secured.events("connection_closed")}
    assert "tls_handshake_failed" in reasons


# ---- doctor


def doctor(bootstrap: str, *options: str) -> str:
    words = [word for option in options for word in ("-X", option)]
    done = subprocess.run(
        command("doctor", "-b", bootstrap, *words),
        env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_the_doctor_names_what_is_wrong_with_tls(secured: Secured) -> None:
    uses_tls, port = "security.protocol=SSL", secured.tls.rpartition(":")[2]
    ca, foreign = (f"ssl.ca.location={secured.files[name]}" for name in ("authority", "stranger"))
    assert "speaks TLS, but the client does not" in doctor(secured.tls)
    assert "problem" not in doctor(secured.tls, uses_tls, ca)
    assert "unable to get local issuer" in doctor(secured.tls, uses_tls, foreign)
    assert "IP address mismatch" in doctor(f"127.0.0.2:{port}", uses_tls, ca)
    assert "-X ssl.certificate.location" in doctor(secured.mutual, uses_tls, ca)


def test_the_doctor_names_an_expired_certificate(tmp_path: Path) -> None:
    secured = start(tmp_path, days=-1)
    try:
        ca = f"ssl.ca.location={secured.files['authority']}"
        found = doctor(secured.tls, "security.protocol=SSL", ca)
        assert "certificate has expired" in found
    finally:
        secured.broker.kill()


# ---- renewal


def serial_of(address: str, authority: Path) -> int:
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(cafile=str(authority))
    with (
        socket.create_connection((host, int(port))) as plain,
        context.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        found = wrapped.getpeercert()
        assert found is not None
        return int(str(found["serialNumber"]), 16)


def test_certificates_are_renewed_under_load_without_a_lost_record(tmp_path: Path) -> None:
    secured = start(tmp_path)
    try:
        topic = created(secured)
        delivered: list[int] = []
        producer = Producer(secured.librdkafka())
        done = threading.Event()

        def load() -> None:
            number = 0
            while not done.is_set():
                producer.produce(
                    topic,
                    b"%d" % number,
                    on_delivery=lambda error, message: (
                        delivered.append(int(message.value() or b"")) if error is None else None
                    ),
                )
                number += 1
                producer.poll(0.001)
            assert producer.flush(PATIENCE_S) == 0

        thread = threading.Thread(target=load)
        thread.start()
        try:
            for round_number in range(2):
                wait_until(lambda: len(delivered) > 100)
                renewed = certificates.broker(secured.authority)
                certificates.write(tmp_path, broker=renewed.pem)
                if round_number:
                    os.kill(secured.broker.pid, signal.SIGHUP)
                serial = renewed.certificate.serial_number
                wait_until(
                    lambda s=serial: serial_of(secured.tls, secured.files["authority"]) == s  # type: ignore[misc]
                )
            certificates.write(tmp_path, broker=b"broken")
            os.kill(secured.broker.pid, signal.SIGHUP)
            wait_until(lambda: secured.events("certificate_refused"))
            assert serial_of(secured.tls, secured.files["authority"]) == serial
            # The authority of clients is replaced: those of the old one are out.
            certificates.write(tmp_path, trusted=secured.files["stranger"].read_bytes())
            certificates.write(tmp_path, broker=renewed.pem)
            os.kill(secured.broker.pid, signal.SIGHUP)
            wait_until(lambda: len(secured.events("certificate_renewed")) >= 5)
            assert created(secured, "foreign")
            old = alert(secured.mutual, secured.files["authority"], secured.files["alice"])
            assert old == "TLSV1_ALERT_UNKNOWN_CA"
        finally:
            done.set()
            thread.join()
        assert delivered == list(range(len(delivered)))
        values = read(secured.librdkafka(), topic, len(delivered))
        assert [int(value) for value in values] == delivered
    finally:
        secured.broker.kill()
