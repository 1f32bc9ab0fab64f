"""SASL conversations with a broker, run and recorded."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from interfaces.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from tests.e2e.broker_process import Address
from tests.fakes.sasl import MECHANISMS, PASSWORD, SALT, USER, salted
from tests.oracle.conversation import Conversation, Steps
from tests.oracle.conversation_scripts import CONVERSATIONS, WITHOUT_LIFETIME
from tests.oracle.kafka import free_port, running_kafka
from tests.oracle.scenario_run import ScenarioRun

FILE = Path(__file__).parent / "recorded_sasl.jsonl"
LISTENER = "LOGIN"
PROTOCOLS = "listener.security.protocol.map"
_PROTOCOLS = f"PLAINTEXT:PLAINTEXT,{LISTENER}:SASL_PLAINTEXT"
_MODULES = "org.apache.kafka.common.security"
_PLAIN_USERS = "listener.name.login.plain.sasl.jaas.config"
_SCRAM = f"{_MODULES}.scram.ScramLoginModule required;"
SETTINGS = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    _PLAIN_USERS: f"{_MODULES}.plain.PlainLoginModule required "
    f'user_{USER}="{PASSWORD}" user_bob="{PASSWORD}";',
    "listener.name.login.scram-sha-256.sasl.jaas.config": _SCRAM,
    "listener.name.login.scram-sha-512.sasl.jaas.config": _SCRAM,
    "listener.name.login.oauthbearer.sasl.jaas.config": f"{_MODULES}.oauthbearer."
    'OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
    "connections.max.reauth.ms": "60000",
    f"listener.name.login.{WITHOUT_LIFETIME.lower()}.connections.max.reauth.ms": "0",
    "connection.failed.authentication.delay.ms": "0",
}
#: Besides those, for Ottla: Kafka accepts unsecured tokens without a setting.
OWN_SETTINGS = {"sasl.oauthbearer.unsecured.tokens": "true"}
_TRIES = 200


class Listeners(NamedTuple):
    plain: Address
    login: Address


def prepare(listeners: Listeners) -> None:
    """Adds the user with SCRAM credentials, and waits until it can log in."""
    run = ScenarioRun(listeners.plain, "sasl", "prepare", 0)
    upsertions = [
        ScramCredentialUpsertion(
            name=USER,
            mechanism=code,
            iterations=4096,
            salt=SALT,
            salted_password=salted(PASSWORD, one),
        )
        for code, one in enumerate(MECHANISMS.values(), 1)
    ]
    request = AlterUserScramCredentialsRequest(deletions=[], upsertions=upsertions)
    # One user may be altered once in a request.
    for one in upsertions:
        request.upsertions = [one]
        response = run.call(request, AlterUserScramCredentialsResponse, 0)
        assert [result.error_code for result in response.results] == [0], response
    run.close()
    for _ in range(_TRIES):
        with closing(Conversation(listeners.login)) as talk:
            CONVERSATIONS["SCRAM-SHA-512: right, version 2"](talk)
        if b"v=(signature)".hex() in talk.steps[-1][1]:
            return
        time.sleep(0.1)
    raise AssertionError(f"the user cannot log in: {talk.steps}")


@contextmanager
def running(jars: Path, folder: Path) -> Iterator[Listeners]:
    """Apache Kafka."""
    login = Address("127.0.0.1", free_port())
    settings = {PROTOCOLS: f"CONTROLLER:PLAINTEXT,{_PROTOCOLS}", **SETTINGS}
    properties = "\n".join(map("=".join, settings.items()))
    with running_kafka(jars, folder, properties, [f"{LISTENER}://{login.bootstrap}"]) as plain:
        yield Listeners(plain, login)


def options(own_users: bool = True) -> list[str]:
    """Of `ottla serve`; without `own_users` of PLAIN its users are those of SCRAM."""
    settings = {PROTOCOLS: _PROTOCOLS, **SETTINGS, **OWN_SETTINGS}
    if not own_users:
        del settings[_PLAIN_USERS]
    listen = [
        word for name in ("PLAINTEXT", LISTENER) for word in ("--listen", f"{name}://127.0.0.1:0")
    ]
    return [*listen, *(word for one in settings.items() for word in ("--set", "=".join(one)))]


def run_all(listeners: Listeners) -> dict[str, Steps]:
    prepare(listeners)
    found = {}
    for name, script in CONVERSATIONS.items():
        with closing(Conversation(listeners.login)) as talk:
            script(talk)
        found[name] = talk.steps
    return found


def record(jars: Path, folder: Path) -> None:
    with running(jars, folder) as listeners:
        found = run_all(listeners)
    lines = [json.dumps({"conversation": name, "steps": steps}) for name, steps in found.items()]
    FILE.write_text("\n".join(lines) + "\n")


def recorded() -> dict[str, Steps]:
    lines: list[Any] = [json.loads(line) for line in FILE.read_text().splitlines()]
    return {one["conversation"]: [(what, got) for what, got in one["steps"]] for one in lines}
