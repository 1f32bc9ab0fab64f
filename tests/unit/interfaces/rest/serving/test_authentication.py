"""Who a client over HTTP is: HTTP Basic and Bearer tokens."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence

import orjson
import pytest

from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending, resolved
from application.security import http_authentication
from domain.security.scram import ScramCredential
from infrastructure.security.password_hashing import InlineHashing
from tests.fakes.admin import FakeAdmin, RestResponse
from tests.fakes.http_users import add_user, basic
from tests.fakes.sasl import PASSWORD, USER


class CountedHashing(InlineHashing):
    def __init__(self) -> None:
        self.work: list[list[tuple[str, int]]] = []

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        self.work.append([(one.mechanism.sasl_name, one.iterations) for one in credentials])
        return super().verify(password, credentials, client)


@pytest.fixture
def admin() -> FakeAdmin:
    return _admin()


def _admin(**settings: str) -> FakeAdmin:
    settings.setdefault("connection_failed_authentication_delay_ms", "0")
    admin = FakeAdmin(admin_authentication="users", **settings)
    add_user(admin.fake)
    return admin


def _hashing(admin: FakeAdmin) -> CountedHashing:
    hashing = CountedHashing()
    parts = admin.fake.broker.security.authentication
    parts.hashing = hashing
    return hashing


def _unsecured_token(name: str) -> str:
    claims = {"sub": name, "iat": time.time(), "exp": time.time() + 60}
    parts = (urlsafe_b64encode(orjson.dumps(one)) for one in ({"alg": "none"}, claims))
    return ".".join(part.decode().rstrip("=") for part in parts) + "."


def test_a_user_with_scram_credentials_authenticates_by_basic(admin: FakeAdmin) -> None:
    assert admin.get("/topics", basic(USER, PASSWORD)).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        basic(USER, "wrong"),
        basic("nobody", PASSWORD),
        basic(USER, ""),
        basic("", PASSWORD),
        basic(f"{USER}\0x", PASSWORD),
        basic(USER, "x" * 10_000),
        {"authorization": "Basic !"},
        {"authorization": "Basic YW5u"},
        {"authorization": "Digest x"},
        {"authorization": "Bearer a.b.c"},
    ],
)
def test_others_are_refused(admin: FakeAdmin, headers: dict[str, str]) -> None:
    for path in ("/topics", "/metrics", "/console/data/topics", "/nowhere", "/openapi.json"):
        refused = admin.get(path, headers)
        assert (refused.status, refused.json["error_code"]) == (401, 40101)
        assert refused.headers["www-authenticate"] == 'Basic realm="Ottla", charset="UTF-8"'


@pytest.mark.parametrize("given", ["Digest x", "Bearer a.b.c"])
def test_a_scheme_that_is_not_enabled_is_reported_as_that(admin: FakeAdmin, given: str) -> None:
    assert "is not enabled" in admin.get("/topics", {"authorization": given}).json["message"]
    [event] = [one for _, name, one in admin.fake.events.lines if name == "authentication_failed"]
    assert event["reason"] == "unsupported_mechanism"


def test_probes_and_the_files_of_the_console_are_open(admin: FakeAdmin) -> None:
    for path in ("/healthz", "/readyz", "/v1/status/ready", "/", "/docs", "/console/main.js"):
        assert admin.get(path).status == 200


def test_unknown_user_and_wrong_password_take_the_same_work_and_answer(admin: FakeAdmin) -> None:
    hashing = _hashing(admin)
    unknown, wrong = (
        admin.get("/topics", basic(*credential))
        for credential in (("nobody", PASSWORD), (USER, "wrong"))
    )
    assert hashing.work[0] == hashing.work[1]

    def without_id(response: RestResponse) -> dict[str, object]:
        return response.json | {"correlation_id": None}

    assert without_id(unknown) == without_id(wrong)


def test_a_failure_is_logged_and_counted_without_the_password(admin: FakeAdmin) -> None:
    refused = admin.get("/topics", basic(USER, "wrong-PaSs-7301"))
    [fields] = [
        one for _, event, one in admin.fake.events.lines if event == "authentication_failed"
    ]
    assert (fields["principal"], fields["mechanism"], fields["listener"]) == (
        f"User:{USER}",
        "BASIC",
        "admin",
    )
    assert fields["correlation_id"] == refused.json["correlation_id"]
    assert "wrong-PaSs-7301" not in repr(admin.fake.events.lines)
    listener = admin.fake.broker.security.authentication.listeners["admin"]
    assert (listener.failed["BASIC"], listener.successful["BASIC"]) == (1, 0)


class BusyHashing(InlineHashing):
    """Too many passwords wait."""

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        assert (client.address, client.closing) == ("192.0.2.1", False)
        return resolved(None)


def test_a_login_is_refused_as_a_wrong_one_when_too_many_wait(admin: FakeAdmin) -> None:
    wrong = admin.get("/topics", basic(USER, "wrong"))
    admin.fake.broker.security.authentication.hashing = BusyHashing()
    refused = admin.get("/topics", basic(USER, PASSWORD))
    assert (refused.status, refused.json["message"]) == (401, wrong.json["message"])
    events = [one for _, event, one in admin.fake.events.lines if event == "authentication_failed"]
    assert events[-1]["reason"] == "too_many_logins"


def test_a_verified_password_is_cached_until_users_change(admin: FakeAdmin) -> None:
    hashing = _hashing(admin)
    for _ in range(3):
        assert admin.get("/topics", basic(USER, PASSWORD)).status == 200
    assert len(hashing.work) == 1
    assert admin.get("/topics", basic(USER, "wrong")).status == 401
    add_user(admin.fake, password="another")
    assert admin.get("/topics", basic(USER, PASSWORD)).status == 401
    assert admin.get("/topics", basic(USER, "another")).status == 200


def test_the_cache_expires_and_is_bounded(
    admin: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_authentication, "MAX_CACHED", 1)
    add_user(admin.fake, "bob")
    hashing = _hashing(admin)
    for user in (USER, "bob", USER):
        assert admin.get("/topics", basic(user, PASSWORD)).status == 200
    assert len(hashing.work) == 3
    admin.fake.clock.advance(60_000)
    assert admin.get("/topics", basic(USER, PASSWORD)).status == 200
    assert len(hashing.work) == 4


def test_users_of_jaas_authenticate_beside_those_of_scram() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    admin = _admin(sasl_jaas_config=f'{module} required user_bob="secret of bob";')
    assert admin.get("/topics", basic("bob", "secret of bob")).status == 200
    assert admin.get("/topics", basic(USER, PASSWORD)).status == 200
    assert admin.get("/topics", basic("bob", PASSWORD)).status == 401


def test_a_bearer_token_is_validated_as_that_of_oauthbearer() -> None:
    admin = _admin(sasl_enabled_mechanisms="OAUTHBEARER", sasl_oauthbearer_unsecured_tokens="true")
    admin.fake.clock.advance(int(time.time() * 1000) - admin.fake.clock.now_ms())
    token = _unsecured_token("carol")
    assert admin.get("/topics", {"authorization": f"Bearer {token}"}).status == 200
    refused = admin.get("/topics", {"authorization": "Bearer a.b.c"})
    assert (refused.status, refused.headers["www-authenticate"][-8:]) == (401, ", Bearer")
