"""Real clients authenticate by SASL: each mechanism, the right password and a wrong one."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.e2e.broker_process import Address, BrokerProcess
from tests.e2e.groups.kafka_tools import run_tool, started_tools
from tests.e2e.node_packages import program, with_kafkajs
from tests.fakes.tokens import AUDIENCE, ISSUER, Issuer

USER, PASSWORD = "ann", "PaSs-of-ann-7301"
SCRAM = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
PASSWORDS = ("PLAIN", *SCRAM)
TRUSTED, STRANGER = Issuer(), Issuer()


class Secured:
    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        found = (Address(one["host"], one["port"]) for one in broker.ready["listeners"])
        #: Without SASL, with it, and with sessions of two seconds.
        self.plain, self.login, self.short = (one.bootstrap for one in found)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("sasl")
    keys = folder / "keys.json"
    keys.write_bytes(TRUSTED.key_set())
    settings = {
        "listener.security.protocol.map": "OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT,"
        "SHORT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "listener.name.short.connections.max.reauth.ms": "2000",
    }
    names = ("OPEN", "LOGIN", "SHORT")
    listen = [word for name in names for word in ("--listen", f"{name}://127.0.0.1:0")]
    options = [word for one in settings.items() for word in ("--set", "=".join(one))]
    with BrokerProcess(folder, "memory", (*listen, *options)) as broker:
        secured = Secured(broker)
        admin = AdminClient({"bootstrap.servers": secured.plain})
        for mechanism in SCRAM.values():
            info = ScramCredentialInfo(mechanism, 4096)
            added = [UserScramCredentialUpsertion(USER, info, PASSWORD.encode())]
            for future in admin.alter_user_scram_credentials(added).values():
                future.result(30)
        yield secured
        assert PASSWORD not in broker.log(1 << 20)
        assert "request_failed" not in broker.log(1 << 20)


def settings_of(secured: Secured, mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    return {
        "bootstrap.servers": secured.login,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": USER,
        "sasl.password": password,
    }


# ---- librdkafka


@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_librdkafka_authenticates_with_the_password_only(secured: Secured, mechanism: str) -> None:
    admin = AdminClient(settings_of(secured, mechanism))
    assert len(admin.list_topics(timeout=30).brokers) == 1
    with pytest.raises(KafkaException):
        AdminClient(settings_of(secured, mechanism, "wrong")).list_topics(timeout=0.5)


def oauth(secured: Secured, issuer: Issuer) -> AdminClient:
    def token(_: str) -> tuple[str, float]:
        return issuer.token(), time.time() + 600

    settings = {
        "bootstrap.servers": secured.login,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": token,
    }
    admin = AdminClient(settings)
    admin.poll(0)
    return admin


def test_librdkafka_authenticates_with_a_token_of_the_issuer_only(secured: Secured) -> None:
    assert len(oauth(secured, TRUSTED).list_topics(timeout=30).brokers) == 1
    with pytest.raises(KafkaException):
        oauth(secured, STRANGER).list_topics(timeout=0.5)


# ---- aiokafka


@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_aiokafka_authenticates_with_the_password_only(secured: Secured, mechanism: str) -> None:
    async def send(password: str) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=secured.login,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism=mechanism,
            sasl_plain_username=USER,
            sasl_plain_password=password,
        )
        try:
            await producer.start()
            await producer.send_and_wait("aio", b"value")
        finally:
            await producer.stop()

    asyncio.run(send(PASSWORD))
    with pytest.raises(AioKafkaError):
        asyncio.run(send("wrong"))


# ---- kcat and KafkaJS


@pytest.mark.long
@pytest.mark.parametrize("mechanism", PASSWORDS)
@pytest.mark.skipif(shutil.which("kcat") is None, reason="no kcat on this machine")
def test_kcat_authenticates_with_the_password_only(secured: Secured, mechanism: str) -> None:
    def listed(password: str) -> int:
        settings = settings_of(secured, mechanism, password)
        del settings["bootstrap.servers"]
        words = [word for one in settings.items() for word in ("-X", "=".join(one))]
        command = ["kcat", "-b", secured.login, *words, "-L", "-m", "2"]
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    assert listed(PASSWORD) == 0
    assert listed("wrong") != 0


KAFKAJS = """
const { Kafka, logLevel } = require('kafkajs')
const [broker, mechanism, username, password] = process.argv.slice(1)
const kafka = new Kafka({ brokers: [broker], ssl: false, logLevel: logLevel.NOTHING,
  retry: { retries: 0 }, sasl: { mechanism, username, password } })
const admin = kafka.admin()
admin.connect().then(() => admin.describeCluster()).then(() => admin.disconnect())
  .then(() => process.exit(0)).catch(error => { console.log(error.message); process.exit(7) })
"""


@pytest.mark.long
@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_kafkajs_authenticates_with_the_password_only(secured: Secured, mechanism: str) -> None:
    def connected(password: str) -> subprocess.CompletedProcess[str]:
        words = [secured.login, mechanism.lower(), USER, password]
        command = [program("node"), "-e", KAFKAJS, *words]
        variables = os.environ | with_kafkajs()
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=variables)

    assert connected(PASSWORD).returncode == 0
    refused = connected("wrong")
    assert refused.returncode == 7
    assert "Authentication failed" in refused.stdout


# ---- Java, with Kafka's own tools


@pytest.mark.long
def test_kafkas_tools_add_users_and_authenticate_as_them(secured: Secured, tmp_path: Path) -> None:
    tools = started_tools(tmp_path)
    try:
        words = ("--alter", "--entity-type", "users", "--entity-name", "bob")
        for mechanism in SCRAM:
            added = ("--add-config", f"{mechanism}=[iterations=8192,password=bobs-secret]")
            printed = run_tool(tools, "kafka-configs", secured.plain, *words, *added)
            assert "Completed updating config for user bob" in printed
        described = ("--describe", "--entity-type", "users", "--entity-name", "bob")
        for mechanism in ("PLAIN", *SCRAM):
            kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
            file = tmp_path / f"{mechanism}.properties"
            file.write_text(
                f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
                f"sasl.jaas.config=org.apache.kafka.common.security.{kind}LoginModule required "
                'username="bob" password="bobs-secret";\n'
            )
            config = ("--command-config", str(file))
            printed = run_tool(tools, "kafka-configs", secured.login, *described, *config)
            assert "SCRAM-SHA-512=iterations=8192" in printed
    finally:
        tools.close()


# ---- authenticating again


@pytest.mark.long
@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_librdkafka_goes_on_when_its_session_expires(secured: Secured, mechanism: str) -> None:
    """It authenticates again in time, or connects again."""
    admin = AdminClient(settings_of(secured, mechanism) | {"bootstrap.servers": secured.short})
    until = time.monotonic() + 5
    while time.monotonic() < until:
        assert len(admin.list_topics(timeout=30).brokers) == 1
        time.sleep(0.2)
