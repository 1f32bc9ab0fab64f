from __future__ import annotations

import pytest

from application.ports.pending import Pending, resolved
from application.ports.token_validator import InvalidToken, ValidToken
from application.security.conversation import MALFORMED, Authenticated, Challenge, Outcome, Refused
from application.security.oauthbearer import OAuthBearerConversation
from domain.security.principal import Principal
from tests.fakes.results import results_of


class Validator:
    def validate(self, token: str) -> Pending[ValidToken | InvalidToken]:
        valid = token == "good.token-_~+/=="
        return resolved(ValidToken("ann", 5000) if valid else InvalidToken("it is expired"))


def step(conversation: OAuthBearerConversation, token: bytes) -> Outcome:
    evaluated = conversation.evaluate(token)
    [found] = results_of(evaluated if isinstance(evaluated, Pending) else resolved(evaluated))
    return found


def first(token: bytes) -> Outcome:
    return step(OAuthBearerConversation(Validator()), token)


GOOD = b"auth=Bearer good.token-_~+/==\x01"


@pytest.mark.parametrize(
    "token",
    [
        b"n,,\x01" + GOOD + b"\x01",
        b"n,a=ann,\x01" + GOOD + b"\x01",
        b"n,,\x01traceId=7\x01" + GOOD + b"logicalCluster=a b\x01\x01",
        b"n,,\x01" + GOOD.replace(b"Bearer", b"bearer") + b"\x01",
    ],
)
def test_a_valid_token_is_the_user_until_it_expires(token: bytes) -> None:
    assert first(token) == Authenticated(Principal("User", "ann"), b"", 5000)


def test_an_invalid_token_gets_the_error_then_the_authentication_fails() -> None:
    conversation = OAuthBearerConversation(Validator())
    error = '{"status":"invalid_token"}'
    outcome = step(conversation, b"n,,\x01auth=Bearer bad\x01\x01")
    assert outcome == Challenge(error.encode())
    assert step(conversation, b"\x01") == Refused("invalid_token", error, "it is expired")
    valid = step(conversation, b"n,,\x01" + GOOD + b"\x01")
    assert valid == Refused("invalid_token", None, "it is expired")


def test_another_authorization_id_is_refused() -> None:
    outcome = first(b"n,a=root,\x01" + GOOD + b"\x01")
    assert isinstance(outcome, Refused)
    assert outcome.reason == "authorization_id"
    assert outcome.message == (
        "Authentication failed: Client requested an authorization id (root) that is different "
        "from the token's principal name (ann)"
    )


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"\x01",
        b"n,,",
        b"n,,\x01\x01",
        b"n,,\x01" + GOOD,
        b"y,,\x01" + GOOD + b"\x01",
        b"n,,\x01auth=Basic abc\x01\x01",
        b"n,,\x01auth=Bearer a b\x01\x01",
        b"n,,\x01auth=Bearer \xff\x01\x01",
        b"n,,\x011=2\x01" + GOOD + b"\x01",
    ],
)
def test_a_malformed_message_is_refused(token: bytes) -> None:
    assert first(token) == MALFORMED
