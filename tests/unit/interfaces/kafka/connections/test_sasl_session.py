"""Connections of a listener with SASL, over a transport without a socket."""

from __future__ import annotations

import struct

import pytest

from application.security.conversation import Outcome
from application.security.plain import PlainConversation
from domain.security.principal import ANONYMOUS, Principal
from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from interfaces.kafka.wire.schema import Request
from tests.fakes.client import FakeClient, frame
from tests.fakes.passwords import SlowHashing, Waiting
from tests.fakes.requests import fetch, metadata, produce
from tests.fakes.sasl import PASSWORD, USER, SaslKafka, handshake, log_in, plain, token

EACH = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
FAILED, UNSUPPORTED_MECHANISM, ILLEGAL_STATE = 58, 33, 34
GENERAL = (
    "Authentication failed during authentication due to invalid credentials with SASL mechanism "
)
INVALID = "Authentication failed: Invalid username or password"


@pytest.fixture
def kafka() -> SaslKafka:
    kafka = SaslKafka()
    kafka.add_user()
    kafka.topic("t", 2)
    return kafka


@pytest.fixture
def client(kafka: SaslKafka) -> FakeClient:
    return kafka.client()


@pytest.mark.parametrize("mechanism", EACH)
def test_a_client_with_the_password_is_the_user(kafka: SaslKafka, mechanism: str) -> None:
    client = kafka.client()
    assert client.session.principal == ANONYMOUS
    response = log_in(client, mechanism)
    assert (response.error_code, response.error_message) == (0, "")
    assert response.session_lifetime_ms == 0
    assert client.session.principal == Principal("User", USER)
    assert client.request(metadata("t"), 12).topics[0].error_code == 0
    assert kafka.authentication.successful == {mechanism: 1}


@pytest.mark.parametrize("user", [USER, "unknown"])
@pytest.mark.parametrize("mechanism", EACH)
def test_a_wrong_password_and_an_unknown_user_get_the_same_response_after_the_delay(
    kafka: SaslKafka, mechanism: str, user: str
) -> None:
    client = kafka.client()
    assert log_in(client, mechanism, user, "wrong") is None
    kafka.scheduler.advance(99)
    assert client.frames() == []
    assert not client.closed
    kafka.after_the_delay(1)
    [response] = client.responses()
    expected = INVALID if mechanism == "PLAIN" else GENERAL + mechanism
    assert (response.error_code, response.error_message) == (FAILED, expected)
    assert response.auth_bytes == b""
    assert client.closed
    assert kafka.authentication.failed == {mechanism: 1}


def test_a_token_that_fails_unexpectedly_is_refused_after_the_delay(
    kafka: SaslKafka, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(_conversation: object, _token: bytes) -> Outcome:
        raise OverflowError("secret")

    monkeypatch.setattr(PlainConversation, "evaluate", evaluate)
    assert log_in(client, "PLAIN") is None
    kafka.after_the_delay()
    [response] = client.responses()
    assert (response.error_code, response.error_message) == (FAILED, GENERAL + "PLAIN")
    assert client.closed
    [line] = kafka.events.of("authentication_failed")
    assert (line["reason"], line["detail"]) == ("malformed_token", "OverflowError")


def test_nothing_is_read_during_the_delay(kafka: SaslKafka, client: FakeClient) -> None:
    log_in(client, "PLAIN", password="wrong")
    assert not client.transport.is_reading()
    client.transport.send(frame(token(plain()), 2))
    kafka.after_the_delay()
    assert len(client.frames()) == 1
    assert client.session.principal == ANONYMOUS


def test_a_password_that_cannot_wait_is_refused_as_a_wrong_one(kafka: SaslKafka) -> None:
    found: list[Waiting] = []
    kafka.broker.security.authentication.hashing = SlowHashing(found.append)
    client = kafka.client()
    assert log_in(client, "PLAIN") is None
    [(_, pending)] = found
    pending.resolve(None)
    assert client.frames() == []
    kafka.after_the_delay()
    [response] = client.responses()
    assert (response.error_code, response.error_message) == (FAILED, INVALID)
    assert client.closed
    [line] = kafka.events.of("authentication_failed")
    assert line["reason"] == "too_many_logins"


def test_a_client_that_leaves_does_not_wait_for_its_password(kafka: SaslKafka) -> None:
    found: list[Waiting] = []
    kafka.broker.security.authentication.hashing = SlowHashing(found.append)
    client = kafka.client("192.0.2.9")
    assert log_in(client, "PLAIN") is None
    [(waiting, pending)] = found
    assert (waiting.address, waiting.closing) == ("192.0.2.9", False)
    client.transport.drop()
    kafka.run()
    assert waiting.closing
    pending.resolve(None)
    assert kafka.events.of("authentication_failed") == []


def test_a_client_that_leaves_during_the_delay_has_no_timer(
    kafka: SaslKafka, client: FakeClient
) -> None:
    before = len(kafka.scheduler.timers)
    other = kafka.client()
    log_in(other, "PLAIN", password="wrong")
    other.transport.drop()
    kafka.run()
    # The rate limit of the log has one.
    assert len(kafka.scheduler.timers) == before + 1


@pytest.mark.parametrize(
    ("request_", "version"), [(metadata("t"), 12), (produce(), 9), (fetch(), 12), (token(b""), 2)]
)
def test_other_requests_before_authentication_close_the_connection(
    kafka: SaslKafka, client: FakeClient, request_: Request, version: int
) -> None:
    client.send(request_, version)
    kafka.run()
    assert client.frames() == []
    assert client.closed
    assert client.why_closed() == "not_authenticated"
    assert kafka.partition().end.next_offset == 0


def test_after_the_handshake_only_tokens_are_expected(kafka: SaslKafka, client: FakeClient) -> None:
    handshake(client, "PLAIN")
    client.send(ApiVersionsRequest(), 3)
    kafka.run()
    assert client.closed
    assert client.why_closed() == "not_authenticated"


def test_requests_behind_the_token_wait_for_the_authentication(
    kafka: SaslKafka, client: FakeClient
) -> None:
    handshake(client, "PLAIN")
    client.send(token(plain()), 2)
    client.send(metadata("t"), 12)
    kafka.run()
    assert [type(one).__name__ for one in client.responses()] == [
        "SaslAuthenticateResponse",
        "MetadataResponse",
    ]


def test_api_versions_may_come_before_the_handshake(client: FakeClient) -> None:
    versions = {one.api_key for one in client.request(ApiVersionsRequest(), 0).api_keys}
    assert {17, 36} <= versions
    assert log_in(client, "SCRAM-SHA-256").error_code == 0


def test_a_mechanism_that_is_not_enabled_is_refused_with_those_that_are(
    kafka: SaslKafka, client: FakeClient
) -> None:
    client.send(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
    kafka.after_the_delay()
    [response] = client.responses()
    assert response.error_code == UNSUPPORTED_MECHANISM
    assert response.mechanisms == list(EACH)
    assert client.closed


def test_requests_are_small_until_the_client_is_authenticated() -> None:
    kafka = SaslKafka(sasl_server_max_receive_size="2000")
    kafka.add_user()
    client = kafka.client()
    client.transport.receive(struct.pack(">i", 2001))
    kafka.run()
    assert client.why_closed() == "invalid_request_size"
    client = kafka.client()
    log_in(client, "PLAIN")
    client.transport.receive(struct.pack(">i", 2001))
    kafka.run()
    assert not client.closed


def test_a_client_has_limited_time_to_authenticate(kafka: SaslKafka) -> None:
    silent, known = kafka.client(), kafka.client()
    log_in(known, "PLAIN")
    kafka.scheduler.advance(29_999)
    assert not silent.closed
    kafka.scheduler.advance(1)
    kafka.run()
    assert silent.closed
    assert silent.why_closed() == "authentication_timeout"
    assert not known.closed


def test_an_authenticated_client_cannot_send_tokens(client: FakeClient) -> None:
    log_in(client, "PLAIN")
    response = client.request(token(plain()), 2)
    assert response.error_code == ILLEGAL_STATE


# ---- tokens without a header, after SaslHandshake 0


def raw(client: FakeClient, data: bytes) -> None:
    client.transport.send(struct.pack(">i", len(data)) + data)
    client._listener.scheduler.run()


def test_after_handshake_0_tokens_have_no_header(kafka: SaslKafka, client: FakeClient) -> None:
    handshake(client, "PLAIN", version=0)
    raw(client, plain())
    assert client.frames() == [b""]
    assert client.request(metadata("t"), 12).topics[0].error_code == 0
    assert client.session.principal == Principal("User", USER)


def test_a_wrong_token_without_a_header_gets_no_response(
    kafka: SaslKafka, client: FakeClient
) -> None:
    handshake(client, "PLAIN", version=0)
    raw(client, plain(password="wrong"))
    assert not client.closed
    kafka.after_the_delay()
    assert client.frames() == []
    assert client.closed


# ---- the log


def test_failures_are_logged_once_a_minute_for_each_host_and_reason(kafka: SaslKafka) -> None:
    for user in ("bob", "cid", "dan"):
        log_in(kafka.client(), "SCRAM-SHA-256", user, "wrong")
        kafka.after_the_delay()
    log_in(kafka.client("192.0.2.9"), "PLAIN", "eve", "wrong")
    lines = kafka.events.of("authentication_failed")
    assert [(one["peer"], one["principal"], one["mechanism"]) for one in lines] == [
        ("192.0.2.7", "User:bob", "SCRAM-SHA-256"),
        ("192.0.2.9", "User:eve", "PLAIN"),
    ]
    assert lines[0]["reason"] == "invalid_credentials"
    assert lines[0]["listener"] == "LOGIN"
    assert lines[0]["correlation_id"] == 3
    kafka.scheduler.advance(60_000)
    kafka.run()
    last = kafka.events.of("authentication_failed")[-1]
    assert (last["connections"], last["principal"]) == (2, "User:dan")


@pytest.mark.parametrize("mechanism", EACH)
def test_no_log_line_and_no_response_has_the_password(kafka: SaslKafka, mechanism: str) -> None:
    secret = "Hidden-4711"
    sent = []
    for user, password in ((USER, PASSWORD), (USER, secret), ("unknown", secret)):
        client = kafka.client()
        log_in(client, mechanism, user, password)
        sent += client.frames()
        kafka.after_the_delay()
        sent += client.transport.taken
    told = repr(kafka.events.lines) + repr(sent) + repr(kafka.request_log.records)
    assert secret not in told
    assert PASSWORD not in told
