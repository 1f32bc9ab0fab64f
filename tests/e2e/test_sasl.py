"""Real clients authenticate by SASL, over TLS and without: each mechanism, right and wrong ones."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import ssl
import subprocess
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
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
from tests.fakes import certificates
from tests.fakes.tokens import AUDIENCE, ISSUER, Issuer

USER, PASSWORD = "ann", "PaSs-of-ann-7301"
SCRAM = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
PASSWORDS = ("PLAIN", *SCRAM)
TRUSTED, STRANGER = Issuer(), Issuer()
PLAINTEXT, TLS = "SASL_PLAINTEXT", "SASL_SSL"
#: One of each client is not `long`.
OVER_TLS = (TLS, "SCRAM-SHA-512")


def logins(*short: tuple[str, str]) -> pytest.MarkDecorator:
    """All protocols and mechanisms with passwords."""
    return pytest.mark.parametrize(
        "protocol, mechanism",
        [
            pytest.param(*one, marks=() if one in short else pytest.mark.long)
            for one in product((PLAINTEXT, TLS), PASSWORDS)
        ],
    )


class Secured:
    def __init__(self, broker: BrokerProcess, authority: Path) -> None:
        self.broker = broker
        self.authority = authority
        found = (Address(one["host"], one["port"]) for one in broker.ready["listeners"])
        #: Without SASL, with it, with sessions of two seconds, and with TLS.
        self.plain, self.login, self.short, self.safe = (one.bootstrap for one in found)

    def servers(self, protocol: str) -> str:
        return self.safe if protocol == TLS else self.login


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("sasl")
    keys = folder / "keys.json"
    keys.write_bytes(TRUSTED.key_set())
    authority = certificates.authority()
    files = certificates.write(
        folder, authority=authority.certificate_pem, broker=certificates.broker(authority).pem
    )
    settings = {
        "listener.security.protocol.map": "OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT,"
        "SHORT:SASL_PLAINTEXT,SAFE:SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(files["broker"]),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "listener.name.short.connections.max.reauth.ms": "2000",
    }
    names = ("OPEN", "LOGIN", "SHORT", "SAFE")
    listen = [word for name in names for word in ("--listen", f"{name}://127.0.0.1:0")]
    options = [word for one in settings.items() for word in ("--set", "=".join(one))]
    with BrokerProcess(folder, "memory", (*listen, *options)) as broker:
        secured = Secured(broker, files["authority"])
        admin = AdminClient({"bootstrap.servers": secured.plain})
        for mechanism in SCRAM.values():
            info = ScramCredentialInfo(mechanism, 4096)
            added = [UserScramCredentialUpsertion(USER, info, PASSWORD.encode())]
            for future in admin.alter_user_scram_credentials(added).values():
                future.result(30)
        yield secured
        assert PASSWORD not in broker.log(1 << 20)
        assert "request_failed" not in broker.log(1 << 20)


def settings_of(
    secured: Secured, protocol: str, mechanism: str, password: str = PASSWORD
) -> dict[str, str]:
    return {
        "bootstrap.servers": secured.servers(protocol),
        "security.protocol": protocol,
        "ssl.ca.location": str(secured.authority),
        "sasl.mechanism": mechanism,
        "sasl.username": USER,
        "sasl.password": password,
    }


# ---- librdkafka


@logins(*product((PLAINTEXT,), PASSWORDS), OVER_TLS)
def test_librdkafka_authenticates_with_the_password_only(
    secured: Secured, protocol: str, mechanism: str
) -> None:
    admin = AdminClient(settings_of(secured, protocol, mechanism))
    assert len(admin.list_topics(timeout=30).brokers) == 1
    with pytest.raises(KafkaException):
        AdminClient(settings_of(secured, protocol, mechanism, "wrong")).list_topics(timeout=0.5)


def oauth(secured: Secured, protocol: str, issuer: Issuer) -> AdminClient:
    def token(_: str) -> tuple[str, float]:
        return issuer.token(), time.time() + 600

    settings = {
        "bootstrap.servers": secured.servers(protocol),
        "security.protocol": protocol,
        "ssl.ca.location": str(secured.authority),
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": token,
    }
    admin = AdminClient(settings)
    admin.poll(0)
    return admin


@pytest.mark.parametrize("protocol", [PLAINTEXT, pytest.param(TLS, marks=pytest.mark.long)])
def test_librdkafka_authenticates_with_a_token_of_the_issuer_only(
    secured: Secured, protocol: str
) -> None:
    assert len(oauth(secured, protocol, TRUSTED).list_topics(timeout=30).brokers) == 1
    with pytest.raises(KafkaException):
        oauth(secured, protocol, STRANGER).list_topics(timeout=0.5)


# ---- aiokafka


class Tokens(AbstractTokenProvider):
    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer

    async def token(self) -> str:
        return self.issuer.token()


async def aiokafka_sends(secured: Secured, protocol: str, mechanism: str, **login: Any) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=secured.servers(protocol),
        security_protocol=protocol,
        ssl_context=ssl.create_default_context(cafile=str(secured.authority)),
        sasl_mechanism=mechanism,
        **login,
    )
    try:
        await producer.start()
        await producer.send_and_wait("aio", b"value")
    finally:
        await producer.stop()


def aiokafka_succeeds(secured: Secured, protocol: str, mechanism: str, **login: Any) -> bool:
    with warnings.catch_warnings():
        # aiokafka does not wait until a refused connection is closed.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            asyncio.run(aiokafka_sends(secured, protocol, mechanism, **login))
            succeeded = True
        except AioKafkaError:
            succeeded = False
        gc.collect()
    return succeeded


@logins(*product((PLAINTEXT,), PASSWORDS), OVER_TLS)
def test_aiokafka_authenticates_with_the_password_only(
    secured: Secured, protocol: str, mechanism: str
) -> None:
    def succeeds(password: str) -> bool:
        login = {"sasl_plain_username": USER, "sasl_plain_password": password}
        return aiokafka_succeeds(secured, protocol, mechanism, **login)

    assert succeeds(PASSWORD)
    assert not succeeds("wrong")


@pytest.mark.long
def test_aiokafka_authenticates_with_a_token_of_the_issuer_only(secured: Secured) -> None:
    def succeeds(issuer: Issuer) -> bool:
        login = {"sasl_oauth_token_provider": Tokens(issuer)}
        return aiokafka_succeeds(secured, TLS, "OAUTHBEARER", **login)

    assert succeeds(TRUSTED)
    assert not succeeds(STRANGER)


# ---- kcat and KafkaJS


@logins(OVER_TLS)
@pytest.mark.skipif(shutil.which("kcat") is None, reason="no kcat on this machine")
def test_kcat_authenticates_with_the_password_only(
    secured: Secured, protocol: str, mechanism: str
) -> None:
    def listed(password: str) -> int:
        settings = settings_of(secured, protocol, mechanism, password)
        words = [word for one in settings.items() for word in ("-X", "=".join(one))]
        command = ["kcat", "-b", settings["bootstrap.servers"], *words, "-L", "-m", "1"]
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    assert listed(PASSWORD) == 0
    assert listed("wrong") != 0


KAFKAJS = """
const { Kafka, logLevel } = require('kafkajs')
const [broker, ca, mechanism, username, password] = process.argv.slice(1)
const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, retry: { retries: 0 },
  ssl: ca && { ca: [require('fs').readFileSync(ca)] }, sasl: mechanism === 'oauthbearer'
    ? { mechanism, oauthBearerProvider: async () => ({ value: password }) }
    : { mechanism, username, password } })
const admin = kafka.admin()
admin.connect().then(() => admin.describeCluster()).then(() => admin.disconnect())
  .then(() => process.exit(0)).catch(error => { console.log(error.message); process.exit(7) })
"""


def kafkajs_connects(
    secured: Secured, protocol: str, mechanism: str, secret: str
) -> subprocess.CompletedProcess[str]:
    authority = str(secured.authority) if protocol == TLS else ""
    words = [secured.servers(protocol), authority, mechanism.lower(), USER, secret]
    command = [program("node"), "-e", KAFKAJS, *words]
    variables = os.environ | with_kafkajs()
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=variables)


@logins(OVER_TLS)
def test_kafkajs_authenticates_with_the_password_only(
    secured: Secured, protocol: str, mechanism: str
) -> None:
    assert kafkajs_connects(secured, protocol, mechanism, PASSWORD).returncode == 0
    refused = kafkajs_connects(secured, protocol, mechanism, "wrong")
    assert refused.returncode == 7
    assert "Authentication failed" in refused.stdout


@pytest.mark.long
def test_kafkajs_authenticates_with_a_token_of_the_issuer_only(secured: Secured) -> None:
    assert kafkajs_connects(secured, TLS, "OAUTHBEARER", TRUSTED.token()).returncode == 0
    assert kafkajs_connects(secured, TLS, "OAUTHBEARER", STRANGER.token()).returncode == 7


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
        for protocol, mechanism in product((PLAINTEXT, TLS), PASSWORDS):
            kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
            file = tmp_path / f"{mechanism}.properties"
            file.write_text(
                f"security.protocol={protocol}\nsasl.mechanism={mechanism}\n"
                f"ssl.truststore.type=PEM\nssl.truststore.location={secured.authority}\n"
                f"sasl.jaas.config=org.apache.kafka.common.security.{kind}LoginModule required "
                'username="bob" password="bobs-secret";\n'
            )
            config = ("--command-config", str(file))
            printed = run_tool(
                tools, "kafka-configs", secured.servers(protocol), *described, *config
            )
            assert "SCRAM-SHA-512=iterations=8192" in printed
    finally:
        tools.close()


@pytest.mark.long
@pytest.mark.parametrize("protocol", [PLAINTEXT, TLS])
def test_kafkas_tools_authenticate_with_a_token_of_the_issuer_only(
    secured: Secured, tmp_path: Path, protocol: str
) -> None:
    security = "org.apache.kafka.common.security.oauthbearer"
    printed = {}
    for issuer in (TRUSTED, STRANGER):
        token, file = tmp_path / f"{issuer.key_id}.jwt", tmp_path / "client.properties"
        token.write_text(issuer.token())
        file.write_text(
            f"security.protocol={protocol}\nsasl.mechanism=OAUTHBEARER\n"
            f"ssl.truststore.type=PEM\nssl.truststore.location={secured.authority}\n"
            f"sasl.jaas.config={security}.OAuthBearerLoginModule required;\n"
            f"sasl.login.callback.handler.class={security}.OAuthBearerLoginCallbackHandler\n"
            f"sasl.oauthbearer.token.endpoint.url={token.as_uri()}\n"
        )
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={token.as_uri()}"
        tools = started_tools(tmp_path, allowed)
        try:
            config = ("--config", str(file))
            printed[issuer] = run_tool(
                tools, "kafka-cluster cluster-id", secured.servers(protocol), *config
            )
        finally:
            tools.close()
    assert "Cluster ID: " in printed[TRUSTED]
    assert "SaslAuthenticationException" in printed[STRANGER]


# ---- authenticating again


@pytest.mark.long
@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_librdkafka_goes_on_when_its_session_expires(secured: Secured, mechanism: str) -> None:
    """It authenticates again in time, or connects again."""
    settings = settings_of(secured, PLAINTEXT, mechanism)
    admin = AdminClient(settings | {"bootstrap.servers": secured.short})
    until = time.monotonic() + 5
    while time.monotonic() < until:
        assert len(admin.list_topics(timeout=30).brokers) == 1
        time.sleep(0.2)
