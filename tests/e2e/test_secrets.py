"""Secrets stay secret: no log line, response, metric or command shows them."""

from __future__ import annotations

import json
import subprocess
import time
from base64 import b64encode
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from tests.e2e.broker_process import Address, BrokerProcess, command, environment, wait_until
from tests.fakes import certificates
from tests.fakes.tokens import AUDIENCE, ISSUER, Issuer

JAAS, SCRAM, KEY, WRONG = "PaSs-jaas-1", "PaSs-scram-2", "PaSs-key-3", "PaSs-wrong-4"
LOG_BYTES = 1 << 22
_PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def written(folder: Path, issuer: Issuer) -> dict[str, str]:
    """The settings of a broker, with files that they need."""
    authority = certificates.authority()
    broker = certificates.broker(authority)
    files = certificates.write(
        folder,
        authority=authority.certificate_pem,
        broker=broker.key_pem(KEY) + broker.certificate_pem,
    )
    keys = folder / "keys.json"
    keys.write_bytes(issuer.key_set())
    users = f'{_PLAIN_LOGIN} required user_boss="{JAAS}";'
    return {
        "listener.security.protocol.map": "SAFE:SASL_SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(files["broker"]),
        "ssl.key.password": KEY,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.safe.plain.sasl.jaas.config": users,
        "admin.plain.sasl.jaas.config": users,
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "admin.authentication": "users",
        "connection.failed.authentication.delay.ms": "0",
        "log.requests": "all",
    }


class Rest:
    def __init__(self, address: Address) -> None:
        self._address = address
        #: Of all responses.
        self.text = ""

    def __call__(self, path: str, authorization: str, body: Any = None, method: str = "") -> int:
        headers = {"Authorization": authorization} if authorization else {}
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        method = method or ("GET" if body is None else "POST")
        with closing(HTTPConnection(*self._address, timeout=30)) as connection:
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            self.text += response.read().decode()
            return response.status


def basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def tokens_sent(broker: BrokerProcess) -> int:
    return broker.log(LOG_BYTES).count('"api":"SaslAuthenticate"')


def test_no_log_line_response_metric_or_command_shows_a_secret(tmp_path: Path) -> None:
    issuer = Issuer()
    token, foreign = issuer.token(), Issuer("key-2").token()
    settings = written(tmp_path, issuer)
    options = [word for one in settings.items() for word in ("--set", "=".join(one))]
    arguments = ("--listen", "SAFE://127.0.0.1:0", "--admin", "127.0.0.1:0", *options)
    with BrokerProcess(tmp_path, "memory", arguments) as broker:
        rest = Rest(broker.admin)
        boss = basic("boss", JAAS)
        assert rest("/users/ann", boss, {"password": SCRAM}, "PUT") == 200
        assert rest("/users/ann", boss, {"password": [SCRAM]}, "PUT") == 422
        for good, bad in (
            (boss, basic("boss", WRONG)),
            (basic("ann", SCRAM), basic(WRONG, WRONG).swapcase()),
            (f"Bearer {token}", f"Bearer {foreign}"),
        ):
            assert (rest("/topics", good), rest("/topics", bad)) == (200, 401)
        for password, status in ((SCRAM, 200), (WRONG, 401), ([SCRAM], 422)):
            assert rest("/login", "", {"user": "ann", "password": password}) == status

        address = Address(**{key: broker.ready["listeners"][0][key] for key in ("host", "port")})
        kafka = {
            "bootstrap.servers": address.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(tmp_path / "authority.pem"),
            "log_level": 0,
        }
        for mechanism, user, right in (
            ("PLAIN", "boss", JAAS),
            ("SCRAM-SHA-512", "ann", SCRAM),
            ("OAUTHBEARER", "", token),
        ):
            for secret in (WRONG if user else foreign, right):
                login: dict[str, Any] = {"sasl.username": user, "sasl.password": secret}
                if not user:
                    login = {"oauth_cb": lambda _, sent=secret: (sent, time.time() + 600)}
                before = tokens_sent(broker)
                admin = AdminClient({**kafka, **login, "sasl.mechanism": mechanism})
                admin.poll(0)
                if secret == right:
                    assert len(admin.list_topics(timeout=30).brokers) == 1
                else:
                    wait_until(lambda before=before: tokens_sent(broker) > before)
                    del admin

        resource = ConfigResource(ResourceType.BROKER, "1")
        configs = {
            name: entry.value
            for future in admin.describe_configs([resource]).values()
            for name, entry in future.result(30).items()
        }
        assert "ssl.key.password" in configs
        for path in ("/metrics", "/requestz", "/configs", "/brokers/1/configs", "/connz", "/users"):
            assert rest(path, boss) == 200
        shown = subprocess.run(
            command("config", "show", *options), capture_output=True, text=True, env=environment()
        )
        assert (shown.returncode, "ssl.key.password" in shown.stdout) == (0, True)
        assert broker.terminate() == 0
        log = broker.log(LOG_BYTES)
    assert '"event":"authentication_failed"' in log
    outputs = {"log": log, "REST": rest.text, "Kafka": str(configs), "command": shown.stdout}
    secrets = (JAAS, SCRAM, KEY, WRONG, token, foreign, boss.split()[1])
    found = [(name, one) for name, text in outputs.items() for one in secrets if one in text]
    assert found == []
