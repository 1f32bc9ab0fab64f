"""Sessions of browsers: login, cookie, CSRF token, expiry, logout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending
from application.security import http_sessions
from application.security.http_sessions import IDLE_MS, LIFETIME_MS
from application.security.users import Deletion
from domain.security.scram import ScramCredential, ScramMechanism
from infrastructure.security.password_hashing import InlineHashing
from tests.fakes.admin import FakeAdmin, RestResponse
from tests.fakes.http_users import add_user, basic
from tests.fakes.sasl import PASSWORD, USER
from tests.fakes.secured import SecuredKafka

SCRIPT = {"x-requested-with": "XMLHttpRequest"}


class Browser:
    """Keeps the cookie of its login."""

    def __init__(self, admin: FakeAdmin) -> None:
        self.admin = admin
        self.cookie = ""
        self.csrf_token = ""

    def log_in(self, user: str = USER, password: str = PASSWORD) -> RestResponse:
        credentials = {"user": user, "password": password}
        response = self.change("/login", credentials)
        if response.status == 200:
            self.cookie = response.headers["set-cookie"].partition(";")[0]
            self.csrf_token = response.json["csrf_token"]
        return response

    def get(self, path: str = "/topics") -> RestResponse:
        return self.admin.get(path, {"cookie": self.cookie})

    def change(self, path: str, body: Any = None) -> RestResponse:
        headers = {"cookie": self.cookie, "x-csrf-token": self.csrf_token}
        return self.admin.request("POST", path, body, headers)


@pytest.fixture
def admin() -> FakeAdmin:
    return _admin()


def _admin(kafka: SecuredKafka | None = None) -> FakeAdmin:
    settings = {"connection_failed_authentication_delay_ms": "0", "admin_authentication": "users"}
    admin = FakeAdmin(kafka, **({} if kafka else settings))
    add_user(admin.fake)
    return admin


@pytest.fixture
def browser(admin: FakeAdmin) -> Browser:
    browser = Browser(admin)
    assert browser.log_in().status == 200
    return browser


def test_a_login_begins_a_session_with_a_cookie_that_no_script_reads(admin: FakeAdmin) -> None:
    browser = Browser(admin)
    assert browser.get().status == 401
    cookie = browser.log_in().headers["set-cookie"]
    name, _, facts = cookie.partition("=")
    assert name == "ottla_session_8082"
    session_id, *flags = facts.split("; ")
    assert len(bytes.fromhex(session_id)) == 32
    assert sorted(flags) == ["HttpOnly", "Path=/", "SameSite=strict"]
    assert browser.get().status == 200
    assert browser.get("/session").json == {
        "principal": f"User:{USER}",
        "csrf_token": browser.csrf_token,
        "cluster_authorized_operations": [
            "CREATE",
            "ALTER",
            "DESCRIBE",
            "DESCRIBE_CONFIGS",
            "ALTER_CONFIGS",
        ],
    }
    assert session_id not in browser.get("/session").body.decode() + repr(admin.fake.events.lines)


def test_over_tls_the_cookie_is_for_tls_only(
    admin: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = admin.scope
    monkeypatch.setattr(admin, "scope", lambda *request: scope(*request) | {"scheme": "https"})
    browser = Browser(admin)
    cookie = browser.log_in().headers["set-cookie"]
    assert cookie.startswith("__Host-ottla_session_8082=")
    assert "Secure" in cookie.split("; ")
    assert browser.get().status == 200


def test_a_wrong_password_is_refused_as_by_basic(admin: FakeAdmin) -> None:
    refused = Browser(admin).log_in(password="wrong-PaSs-7301")
    assert (refused.status, refused.json["error_code"]) == (401, 40101)
    assert refused.json["message"] == "user or password is not valid"
    assert "set-cookie" not in refused.headers
    events = [event for _, event, _ in admin.fake.events.lines]
    assert "authentication_failed" in events
    assert "wrong-PaSs-7301" not in repr(admin.fake.events.lines)
    listener = admin.fake.broker.security.authentication.listeners["admin"]
    assert listener.failed["BASIC"] == 1


def test_the_browser_does_not_ask_for_the_password_of_a_script_itself(admin: FakeAdmin) -> None:
    assert admin.get("/topics", SCRIPT).headers["www-authenticate"] == "Session"


def test_a_login_never_takes_an_id_that_was_known_before(browser: Browser) -> None:
    before = browser.cookie
    browser.log_in()
    assert browser.cookie != before
    assert browser.admin.get("/topics", {"cookie": before}).status == 401
    chosen = Browser(browser.admin)
    chosen.cookie = "ottla_session_8082=" + "0" * 64
    chosen.log_in()
    assert "0" * 64 not in chosen.cookie


def test_a_change_by_cookie_needs_the_csrf_token_of_the_session(browser: Browser) -> None:
    topic = {"topic_name": "orders"}
    another = Browser(browser.admin)
    another.log_in()
    for token in ("", "wrong", "é", another.csrf_token):
        headers = {"cookie": browser.cookie, "x-csrf-token": token}
        refused = browser.admin.request("POST", "/topics", topic, headers)
        assert (refused.status, refused.json["error_code"]) == (403, 40305)
    assert browser.change("/topics", topic).status == 201
    by_password = basic(USER, PASSWORD) | {"cookie": browser.cookie}
    deleted = browser.admin.request("DELETE", "/topics/orders", headers=by_password)
    assert deleted.status == 204


def test_a_session_ends_when_it_is_not_used(browser: Browser) -> None:
    clock = browser.admin.fake.clock
    for _ in range(2):
        clock.advance(IDLE_MS - 1)
        assert browser.get().status == 200
    clock.advance(IDLE_MS)
    assert browser.get().status == 401


def test_a_session_ends_some_hours_after_the_login(browser: Browser) -> None:
    for _ in range(LIFETIME_MS // (IDLE_MS // 2) - 1):
        browser.admin.fake.clock.advance(IDLE_MS // 2)
        assert browser.get().status == 200
    browser.admin.fake.clock.advance(IDLE_MS // 2)
    assert browser.get().status == 401


def test_sessions_are_bounded(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_sessions, "MAX_SESSIONS", 2)
    second, third = Browser(browser.admin), Browser(browser.admin)
    second.log_in()
    assert browser.get().status == 200
    third.log_in()
    assert [one.get().status for one in (browser, second, third)] == [200, 401, 200]


def test_many_logins_of_a_user_end_sessions_of_that_user_only(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "MAX_SESSIONS_OF_USER", 2)
    add_user(browser.admin.fake, "bob")
    bobs = [Browser(browser.admin) for _ in range(4)]
    for bob in bobs:
        bob.log_in("bob")
    assert [one.get().status for one in (browser, *bobs)] == [200, 401, 401, 200, 200]


def test_a_logout_ends_the_session(browser: Browser) -> None:
    ended = browser.change("/logout")
    assert ended.status == 204
    assert 'ottla_session_8082=""' in ended.headers["set-cookie"]
    assert browser.get().status == 401
    assert browser.change("/logout").status == 401


def test_the_sessions_of_a_user_end_when_the_user_changes(browser: Browser) -> None:
    add_user(browser.admin.fake, "bob")
    bob = Browser(browser.admin)
    bob.log_in("bob")
    assert browser.change("/logout").status == 204
    browser.log_in()
    assert (
        browser.admin.request("DELETE", f"/users/{USER}", headers=basic("bob", PASSWORD)).status
        == 204
    )
    assert browser.get().status == 401
    assert bob.get().status == 200
    add_user(browser.admin.fake, "bob", "another")
    assert bob.get().status == 401


class ChangingHashing(InlineHashing):
    """The user changes while the password is verified."""

    def __init__(self, change: Callable[[], object]) -> None:
        self._change = change

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        verified = super().verify(password, credentials, client)
        self._change()
        return verified


@pytest.mark.parametrize("deleted", [False, True])
def test_a_login_is_refused_whose_user_changes_meanwhile(admin: FakeAdmin, deleted: bool) -> None:
    security = admin.fake.broker.security

    def change() -> None:
        if deleted:
            security.users.alter([Deletion(USER, ScramMechanism.SHA_256)], [])
            admin.fake.run()
        else:
            add_user(admin.fake, password="another")

    security.authentication.hashing = ChangingHashing(change)
    refused = Browser(admin).log_in()
    assert (refused.status, refused.json["error_code"]) == (401, 40101)
    assert "set-cookie" not in refused.headers
    assert admin.admin.authentication is not None
    assert len(admin.admin.authentication.sessions) == 0


def test_a_session_has_the_rights_of_its_user() -> None:
    kafka = SecuredKafka(
        admin_authentication="users", connection_failed_authentication_delay_ms="0"
    )
    browser = Browser(_admin(kafka))
    assert browser.log_in().json["cluster_authorized_operations"] == []
    assert browser.get("/configs").status == 403


def test_what_anybody_may_send_is_small(admin: FakeAdmin) -> None:
    refused = Browser(admin).log_in(password="x" * 20_000)
    assert (refused.status, refused.json["error_code"]) == (413, 413)


def test_without_users_there_is_no_login() -> None:
    admin = FakeAdmin()
    assert admin.get("/session").json["principal"] == "User:ANONYMOUS"
    assert admin.get("/session").json["csrf_token"] is None
    refused = Browser(admin).log_in()
    assert (refused.status, refused.json["error_code"]) == (400, 40002)
    assert Browser(admin).change("/logout").status == 204
