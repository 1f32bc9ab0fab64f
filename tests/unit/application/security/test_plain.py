from __future__ import annotations

from collections.abc import Sequence

import pytest

from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending, resolved
from application.security.conversation import (
    OTHER_IDENTITY,
    Authenticated,
    Outcome,
    Refused,
)
from application.security.plain import MAX_CREDENTIAL_BYTES, PlainConversation
from domain.security.principal import Principal
from domain.security.scram import ScramCredential
from infrastructure.security.password_hashing import InlineHashing
from tests.fakes.passwords import PasswordWaiter
from tests.fakes.results import results_of
from tests.fakes.sasl import PASSWORD, USER, SaslKafka, plain

INVALID = Refused("invalid_credentials", "Authentication failed: Invalid username or password")


class CountedHashing(InlineHashing):
    def __init__(self) -> None:
        self.work: list[list[tuple[str, int]]] = []

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        self.work.append([(one.mechanism.sasl_name, one.iterations) for one in credentials])
        return super().verify(password, credentials, client)


@pytest.fixture
def hashing() -> CountedHashing:
    return CountedHashing()


def outcome(token: bytes, hashing: CountedHashing, passwords: dict[str, str]) -> Outcome:
    kafka = SaslKafka()
    kafka.add_user()
    users = kafka.broker.security.users
    evaluated = PlainConversation(passwords, users, hashing, PasswordWaiter()).evaluate(token)
    [found] = results_of(evaluated if isinstance(evaluated, Pending) else resolved(evaluated))
    return found


OF_JAAS = {"ann": PASSWORD, "bob": ""}


@pytest.mark.parametrize("passwords", [{}, OF_JAAS])
def test_users_are_those_of_jaas_or_those_with_scram_credentials(
    hashing: CountedHashing, passwords: dict[str, str]
) -> None:
    def of(token: bytes) -> Outcome:
        return outcome(token, hashing, passwords)

    assert of(plain()) == Authenticated(Principal("User", USER))
    assert of(plain(authorization_id=USER)) == Authenticated(Principal("User", USER))
    assert of(plain(authorization_id="root")) == OTHER_IDENTITY
    assert of(plain(password="wrong", authorization_id="root")) == INVALID
    assert of(plain(password="wrong")) == INVALID
    assert of(plain("unknown")) == INVALID
    assert of(plain("größe", "größe")) == INVALID


def test_an_unknown_user_costs_the_work_of_a_known_one(hashing: CountedHashing) -> None:
    outcome(plain(password="wrong"), hashing, {})
    outcome(plain("unknown"), hashing, {})
    known, unknown = hashing.work
    assert known == unknown == [("SCRAM-SHA-256", 4096), ("SCRAM-SHA-512", 4096)]


def test_a_password_that_is_too_long_is_refused_without_work(hashing: CountedHashing) -> None:
    assert outcome(plain(password="x" * MAX_CREDENTIAL_BYTES), hashing, {}) == INVALID
    assert outcome(plain("x" * MAX_CREDENTIAL_BYTES), hashing, {}) == INVALID
    assert hashing.work == []


@pytest.mark.parametrize("token", [b"", b"\0", b"ann", b"\0ann\0pw\0more"])
def test_a_malformed_token_is_refused_with_kafkas_words(
    hashing: CountedHashing, token: bytes
) -> None:
    parts = token.count(b"\0") + 1
    message = f"Invalid SASL/PLAIN response: expected 3 tokens, got {parts}"
    assert outcome(token, hashing, {}) == Refused("malformed_token", message)
    assert hashing.work == []


def test_a_user_that_is_no_text_is_unknown(hashing: CountedHashing) -> None:
    assert outcome(b"\0\xff\0pw", hashing, {}) == INVALID


def test_user_and_password_are_required_with_kafkas_words(hashing: CountedHashing) -> None:
    user, password = (
        f"Authentication failed: {name} not specified" for name in ("username", "password")
    )
    assert outcome(b"\0\0pw", hashing, {}) == Refused("malformed_token", user)
    assert outcome(b"\0ann\0", hashing, {}) == Refused("malformed_token", password)
