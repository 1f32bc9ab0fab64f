"""A broker whose one listener has SASL, and clients that authenticate.

SCRAM of the client is scramp's, so that broker and test cannot share a mistake.
"""

from __future__ import annotations

import hashlib
from typing import Any

from scramp import ScramClient

from application.security.authentication import ListenerAuthentication
from application.security.users import Upsertion
from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import ListenerSecurity, SecurityProtocol
from domain.security.scram import ScramCredential, ScramMechanism
from interfaces.kafka.connections.sasl_session import SaslSession
from interfaces.kafka.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.logs import FakeRequestLog

LISTENER = "LOGIN"
USER, PASSWORD = "ann", "PaSs-of-ann-7301"
SALT = b"sixteen bytes ok"
MECHANISMS = {one.sasl_name: one for one in ScramMechanism}


def salted(password: str, mechanism: ScramMechanism, iterations: int = 4096) -> bytes:
    raw = password.encode()
    return hashlib.pbkdf2_hmac(mechanism.hash_name, raw, SALT, iterations)


def credential(
    password: str = PASSWORD,
    mechanism: ScramMechanism = ScramMechanism.SHA_256,
    iterations: int = 4096,
) -> ScramCredential:
    return ScramCredential.of_salted_password(
        mechanism, iterations, SALT, salted(password, mechanism, iterations)
    )


def security(**own: str) -> ListenerSecurity:
    """Settings of the listener, with underscores; "plain__sasl_jaas_config" has a mechanism."""
    dotted = {name.replace("__", ".").replace("_", "."): text for name, text in own.items()}
    return ListenerSecurity(LISTENER, SecurityProtocol.SASL_PLAINTEXT, BrokerConfig(), dotted)


class SaslKafka(FakeKafka):
    """The fake broker with connections of a listener with SASL."""

    def __init__(self, own: dict[str, str] | None = None, **settings: str) -> None:
        super().__init__(FakeRequestLog(enabled=True), **settings)
        enabled = {"sasl_enabled_mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"}
        found = self.broker.security.authentication.of(security(**enabled | (own or {})))
        assert found is not None
        self.authentication: ListenerAuthentication = found

    def _session(self, connection_id: int) -> SaslSession:
        return SaslSession(self.shared, connection_id, LISTENER, self.authentication)

    def add_user(self, name: str = USER, password: str = PASSWORD) -> None:
        """With a credential of each mechanism."""
        for mechanism in ScramMechanism:
            self.broker.security.users.alter(
                [], [Upsertion(name, mechanism, 4096, SALT, salted(password, mechanism))]
            )
            self.run()

    def after_the_delay(self, ms: int = 100) -> None:
        self.run()
        self.scheduler.advance(ms)
        self.run()


def handshake(client: FakeClient, mechanism: str, version: int = 1) -> Any:
    return client.request(SaslHandshakeRequest(mechanism=mechanism), version)


def token(data: bytes) -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(auth_bytes=data)


def plain(user: str = USER, password: str = PASSWORD, authorization_id: str = "") -> bytes:
    return f"{authorization_id}\0{user}\0{password}".encode()


def log_in(client: FakeClient, mechanism: str, user: str = USER, password: str = PASSWORD) -> Any:
    """Returns the last response, or None: it has not arrived yet."""
    assert handshake(client, mechanism).error_code == 0
    if mechanism == "PLAIN":
        client.send(token(plain(user, password)), 2)
    else:
        scram = ScramClient([mechanism], user, password)
        first = client.request(token(scram.get_client_first().encode()), 2)
        assert first.error_code == 0
        scram.set_server_first(first.auth_bytes.decode())
        client.send(token(scram.get_client_final().encode()), 2)
    client._listener.scheduler.run()
    responses = client.responses()
    if responses and mechanism != "PLAIN":
        scram.set_server_final(responses[-1].auth_bytes.decode())  # verifies the signature
    return responses[-1] if responses else None
