from __future__ import annotations

import pytest

from domain.configs.broker import BrokerConfig
from interfaces.rest.errors import RestError
from interfaces.rest.serving.guard import Guard, allowed_hosts

LOCAL = Guard(["127.0.0.1"], ["Broker.example"], [])
EVERYWHERE = Guard([""], [], [])


def refused(
    guard: Guard, method: str = "GET", body: str = "", path: str = "/topics", **headers: str
) -> int:
    """The code, or 0."""
    dashed = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        guard.check(method, path, dashed, not body)
    except RestError as error:
        return error.code
    return 0


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8082", "127.0.0.1:8082", "[::1]:8082", "BROKER.example:80"]
)
def test_a_known_host_is_allowed(host: str) -> None:
    assert refused(LOCAL, host=host) == 0


@pytest.mark.parametrize("host", ["", "evil.example", "evil.example:8082", "192.0.2.1", "[::2]:1"])
def test_an_unknown_host_is_refused(host: str) -> None:
    assert refused(LOCAL, host=host) == 40303


def test_names_that_clients_are_directed_to_are_allowed() -> None:
    advertised = "SAFE://Broker.example:9093,LOCAL://127.0.0.1:9092"
    config = BrokerConfig({"advertised.listeners": advertised, "admin.allowed.hosts": "other"})
    guard = Guard([""], allowed_hosts(config), [])
    assert [refused(guard, host=f"{one}:8082") for one in ("broker.example", "other")] == [0, 0]
    assert refused(guard, host="evil.example:8082") == 40303


def test_a_probe_that_speaks_http_1_0_needs_no_host() -> None:
    assert refused(LOCAL) == 0
    assert refused(LOCAL, origin="http://evil.example", method="DELETE") == 40304


def test_a_wildcard_listener_allows_any_address_but_no_name() -> None:
    assert refused(EVERYWHERE, host="192.0.2.1:8082") == 0
    assert refused(EVERYWHERE, host="[2001:db8::1]:8082") == 0
    assert refused(EVERYWHERE, host="evil.example:8082") == 40303


def test_only_pages_of_this_server_may_change_anything() -> None:
    ask = {"method": "DELETE", "host": "localhost:8082"}
    assert refused(LOCAL, **ask) == 0
    assert refused(LOCAL, **ask, origin="http://localhost:8082") == 0
    assert refused(LOCAL, **ask, origin="http://localhost:3000") == 40304
    assert refused(LOCAL, **ask, origin="null") == 40304
    assert refused(LOCAL, **ask, sec_fetch_site="cross-site") == 40304
    assert refused(LOCAL, host="localhost:8082", origin="http://evil.example") == 0, "GET"


def test_a_body_that_a_form_could_send_is_refused() -> None:
    ask = {"method": "POST", "host": "localhost", "body": "{}"}
    assert refused(LOCAL, **ask, content_type="text/plain") == 415
    assert refused(LOCAL, **ask) == 415
    charset = "Application/JSON; charset=utf-8"
    assert refused(LOCAL, **ask, content_type=charset) == 0


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_origin_may_only_link_to_the_console(site: str) -> None:
    ask = {"host": "localhost:8082", "sec_fetch_site": site}
    assert refused(LOCAL, **ask, sec_fetch_mode="no-cors") == 40304
    assert refused(LOCAL, **ask, path="/", sec_fetch_mode="no-cors") == 40304
    assert refused(LOCAL, **ask, sec_fetch_mode="navigate") == 40304
    for page in ("/", "/docs"):
        assert refused(LOCAL, **ask, path=page, sec_fetch_mode="navigate") == 0
    frame = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}
    assert refused(LOCAL, **ask, path="/", **frame) == 40304
    assert refused(LOCAL, host="localhost:8082", sec_fetch_site="same-origin") == 0
    assert refused(LOCAL, host="localhost:8082", sec_fetch_site="none") == 0


def test_pages_of_an_allowed_origin_may_do_everything() -> None:
    guard = Guard(["127.0.0.1"], [], ["http://localhost:3000"])
    page = {"host": "localhost:8082", "sec_fetch_site": "same-site"}
    for method in ("GET", "OPTIONS", "DELETE"):
        assert refused(guard, method, **page, origin="http://localhost:3000") == 0
        assert refused(guard, method, **page, origin="http://evil.example") == 40304
    assert refused(guard, **page) == 40304, "an image"
    form = {**page, "origin": "http://localhost:3000", "content_type": "text/plain"}
    assert refused(guard, "POST", "{}", **form) == 415


def test_if_all_origins_are_allowed_an_unknown_host_is_still_refused() -> None:
    guard = Guard(["127.0.0.1"], [], ["*"])
    assert refused(guard, "DELETE", host="localhost", origin="http://any.example") == 0
    assert refused(guard, host="evil.example", origin="http://any.example") == 40303
