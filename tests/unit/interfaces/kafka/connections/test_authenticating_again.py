"""Clients of a listener with SASL that authenticate again (KIP-368)."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from interfaces.kafka.wire.schema import Request
from tests.fakes.requests import metadata, produce
from tests.fakes.sasl import SaslKafka, handshake, log_in

FAILED, ILLEGAL_STATE = 58, 34


@pytest.fixture
def kafka() -> SaslKafka:
    """Its sessions have a lifetime."""
    kafka = SaslKafka({"connections_max_reauth_ms": "50000"})
    kafka.add_user()
    kafka.topic("t")
    return kafka


def test_a_session_ends_with_the_first_request_after_its_lifetime(kafka: SaslKafka) -> None:
    client = kafka.client()
    assert log_in(client, "PLAIN").session_lifetime_ms == 50_000
    kafka.clock.advance(49_999)
    client.request(metadata(), 12)
    kafka.clock.advance(1)
    client.send(metadata(), 12)
    kafka.run()
    assert client.closed
    assert client.why_closed() == "session_expired"
    assert kafka.authentication.expired == 1


def test_a_client_can_authenticate_again_before_and_after_the_end(kafka: SaslKafka) -> None:
    client = kafka.client()
    log_in(client, "SCRAM-SHA-256")
    kafka.clock.advance(60_000)
    assert log_in(client, "SCRAM-SHA-256").session_lifetime_ms == 50_000
    client.request(metadata(), 12)
    assert kafka.authentication.successful == {"SCRAM-SHA-256": 1}
    assert kafka.authentication.successful_again == {"SCRAM-SHA-256": 1}


@pytest.mark.parametrize(
    ("request_", "version"),
    [(metadata("t"), 12), (produce(), 9), (SaslHandshakeRequest(mechanism="PLAIN"), 1)],
)
def test_after_a_handshake_again_only_tokens_are_expected(
    kafka: SaslKafka, request_: Request, version: int
) -> None:
    client = kafka.client()
    log_in(client, "PLAIN")
    kafka.clock.advance(60_000)
    handshake(client, "PLAIN")
    client.send(request_, version)
    kafka.run()
    assert client.frames() == []
    assert client.why_closed() == "not_authenticated"
    assert kafka.partition().end.next_offset == 0


def test_a_client_has_limited_time_to_authenticate_again(kafka: SaslKafka) -> None:
    silent, known = kafka.client(), kafka.client()
    for client in (silent, known):
        log_in(client, "PLAIN")
    log_in(known, "PLAIN")
    handshake(silent, "PLAIN")
    kafka.scheduler.advance(29_999)
    assert not silent.closed
    kafka.scheduler.advance(1)
    kafka.run()
    assert silent.why_closed() == "authentication_timeout"
    assert not known.closed


def test_authenticating_again_is_possible_once_a_second(kafka: SaslKafka) -> None:
    client = kafka.client()
    log_in(client, "PLAIN")
    log_in(client, "PLAIN")
    assert handshake(client, "PLAIN").error_code == ILLEGAL_STATE
    assert not client.closed
    client.session._begun_again_ns -= 1_000_000_000
    assert log_in(client, "PLAIN").error_code == 0


def test_a_client_cannot_become_another_user(kafka: SaslKafka) -> None:
    client = kafka.client()
    kafka.add_user("bob", "bob's")
    log_in(client, "PLAIN")
    assert log_in(client, "PLAIN", "bob", "bob's") is None
    kafka.after_the_delay()
    [response] = client.responses()
    assert response.error_code == FAILED
    assert response.error_message == (
        "Cannot change principals during re-authentication from User.ann: User.bob"
    )
    assert client.closed
    assert kafka.authentication.failed_again == {"PLAIN": 1}


def test_a_client_cannot_change_its_mechanism(kafka: SaslKafka) -> None:
    client = kafka.client()
    log_in(client, "SCRAM-SHA-256")
    assert log_in(client, "PLAIN") is None
    kafka.after_the_delay()
    [response] = client.responses()
    assert (response.error_code, response.error_message) == (
        FAILED,
        "SASL mechanism 'PLAIN' requested by client is not supported for re-authentication of "
        "mechanism 'SCRAM-SHA-256'",
    )
    assert client.closed
    [line] = kafka.events.of("authentication_failed")
    assert line["reason"] == "mechanism_changed"


def test_a_wrong_password_again_closes_the_connection(kafka: SaslKafka) -> None:
    client = kafka.client()
    log_in(client, "SCRAM-SHA-512")
    log_in(client, "SCRAM-SHA-512", password="wrong")
    kafka.after_the_delay()
    [response] = client.responses()
    assert response.error_message == (
        "Authentication failed during re-authentication due to invalid credentials with SASL "
        "mechanism SCRAM-SHA-512"
    )
    assert client.closed


def test_a_session_without_a_lifetime_does_not_authenticate_again() -> None:
    kafka = SaslKafka()
    kafka.add_user()
    kafka.topic("t")
    client = kafka.client()
    log_in(client, "PLAIN")
    assert handshake(client, "PLAIN").error_code == ILLEGAL_STATE
    assert client.request(metadata("t"), 12).topics[0].error_code == 0
    assert kafka.authentication.successful_again == {}
