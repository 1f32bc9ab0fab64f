from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from application.ports.token_validator import InvalidToken, TokenValidator, ValidToken
from infrastructure.clock import SystemClock
from infrastructure.security.token_validator import token_validator
from tests.fakes.logs import FakeEventLog
from tests.fakes.sasl import security
from tests.fakes.tokens import AUDIENCE, ISSUER, Issuer, claims_of, unsecured

TRUSTED = Issuer()
STRANGER = Issuer()


def validated(validator: TokenValidator, token: str, calls: Calls) -> ValidToken | InvalidToken:
    results: list[ValidToken | InvalidToken] = []
    validator.validate(token).then(results.append)
    if not results:
        calls.run_one()
    return results[0]


class Calls:
    """A loop: callbacks of threads."""

    def __init__(self) -> None:
        self._arrived = threading.Semaphore(0)
        self._calls: list[Callable[[], None]] = []

    def __call__(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        self._arrived.release()

    def run_one(self) -> None:
        assert self._arrived.acquire(timeout=20)
        self._calls.pop(0)()


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., ValidToken | InvalidToken]:
    file = tmp_path / "keys.json"
    file.write_bytes(TRUSTED.key_set())
    calls = Calls()

    def run(token: str, keys: Issuer | None = None, **own: str) -> ValidToken | InvalidToken:
        if keys is not None:
            file.write_bytes(keys.key_set())
        url = {"sasl_oauthbearer_jwks_endpoint_url": file.as_uri()}
        settings = security(**url | own)
        return validated(
            token_validator(settings, SystemClock(), FakeEventLog(), calls), token, calls
        )

    return run


EXPECTED = {
    "sasl_oauthbearer_expected_issuer": ISSUER,
    "sasl_oauthbearer_expected_audience": f"other,{AUDIENCE}",
}


@pytest.mark.parametrize(
    "algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256"]
)
def test_a_signed_token_names_its_user_until_it_expires(check: Any, algorithm: str) -> None:
    expires = int(time.time()) + 90
    token = TRUSTED.token(algorithm, exp=expires)
    assert check(token, **EXPECTED) == ValidToken("ann", expires * 1000)


NOW = int(time.time())
INVALID: dict[str, tuple[Callable[[], str], str]] = {
    "of another issuer's key": (STRANGER.token, "the signature is wrong"),
    "an unknown key": (lambda: TRUSTED.token(key_id="new"), "the issuer has no such key"),
    "expired": (lambda: TRUSTED.token(exp=NOW - 40), "it is expired"),
    "without exp": (lambda: TRUSTED.token(exp=None), "it has no exp, iat, iss or aud"),
    "without iat": (lambda: TRUSTED.token(iat=None), "it has no exp, iat, iss or aud"),
    "not valid yet": (lambda: TRUSTED.token(nbf=NOW + 400), "it is not valid yet"),
    "another issuer": (lambda: TRUSTED.token(iss="https://x"), "its issuer is another one"),
    "another audience": (lambda: TRUSTED.token(aud="x"), "its audience is another one"),
    "no audience": (lambda: TRUSTED.token(aud=None), "it has no exp, iat, iss or aud"),
    "without sub": (lambda: TRUSTED.token(sub=None), "the claim sub is missing or no text"),
    "an empty sub": (lambda: TRUSTED.token(sub=" "), "the claim sub is missing or no text"),
    "a number as sub": (lambda: TRUSTED.token(sub=7), "the claim sub is missing or no text"),
    "a scope twice": (
        lambda: TRUSTED.token(scope="a b a"),
        "the claim scope has an empty or repeated scope",
    ),
    "an infinite exp": (lambda: TRUSTED.token(exp=float("inf")), "it is no JSON web token"),
    "not signed": (unsecured, "it is not signed with a public key"),
    "no token": (lambda: "abc", "it is no JSON web token"),
    "three parts of nothing": (lambda: "a.b.c", "it is no JSON web token"),
    "too long": (lambda: "a" * 70_000, "the token is too long"),
}


@pytest.mark.parametrize("name", INVALID)
def test_other_tokens_are_refused_with_the_reason(check: Any, name: str) -> None:
    make, reason = INVALID[name]
    assert check(make(), **EXPECTED) == InvalidToken(reason)


@pytest.mark.parametrize(
    ("alg", "key_id", "algorithm"),
    [
        ("RS256", "key-1", "RS512"),
        ("RS256", "key-1", "PS256"),
        (None, "key-1-ec", "RS256"),
        (None, "key-1", "ES256"),
    ],
)
def test_a_key_is_for_its_algorithm_only(
    check: Any, alg: str | None, key_id: str, algorithm: str
) -> None:
    keys = Issuer(algorithm=alg)
    if alg is not None:
        assert isinstance(check(keys.token(alg), keys), ValidToken)
    token = keys.token(algorithm, key_id)
    assert check(token, keys) == InvalidToken("its key is for another algorithm")


def test_a_public_key_is_no_shared_secret(check: Any) -> None:
    """The attack by which HS256 with the public key would be a signature."""
    header = {"alg": "HS256", "kid": TRUSTED.key_id}
    parts = [json.dumps(one).encode() for one in (header, claims_of())]
    token = ".".join(base64.urlsafe_b64encode(one).rstrip(b"=").decode() for one in parts)
    assert check(f"{token}.c2lnbmF0dXJl") == InvalidToken("it is not signed with a public key")


def test_a_changed_claim_breaks_the_signature(check: Any) -> None:
    head, _, signature = TRUSTED.token().split(".")
    claims = base64.urlsafe_b64encode(json.dumps(claims_of(sub="root")).encode()).rstrip(b"=")
    token = f"{head}.{claims.decode()}.{signature}"
    assert check(token) == InvalidToken("the signature is wrong")


def test_the_user_may_be_in_another_claim(check: Any) -> None:
    token = TRUSTED.token(sub=None, email="ann@example.com")
    own = {"sasl_oauthbearer_sub_claim_name": "email"}
    assert check(token, **own).principal_name == "ann@example.com"


def test_the_clock_of_the_issuer_may_differ_a_little(check: Any) -> None:
    assert isinstance(check(TRUSTED.token(exp=int(time.time()) - 20)), ValidToken)


def test_unsecured_tokens_are_accepted_by_the_setting_only(check: Any) -> None:
    own = {"sasl_oauthbearer_unsecured_tokens": "true"}
    assert check(unsecured(), **own).principal_name == "ann"
    assert check(unsecured(exp=NOW - 40), **own) == InvalidToken("it is expired")
    assert check(unsecured(nbf=NOW + 400), **own) == InvalidToken("it is not valid yet")
    assert isinstance(check(TRUSTED.token(), **own), InvalidToken)
    endless = InvalidToken("its times are no numbers")
    for exp in (float("inf"), 1e308):
        assert check(unsecured(exp=exp), **own) == endless
    malformed = InvalidToken("it is no JSON web token with exp")
    for token in ("a.b.", unsecured(exp=10**400), unsecured(nbf=-(10**400))):
        assert check(token, **own) == malformed


def test_no_reason_has_a_part_of_the_token(check: Any) -> None:
    for make, _ in INVALID.values():
        token = make()
        detail = check(token, **EXPECTED).detail
        assert not any(part and len(part) > 3 and part in detail for part in token.split("."))
