from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin, RestResponse

PAGE = "http://localhost:3000"


def preflight(admin: FakeAdmin, origin: str, headers: str = "content-type") -> RestResponse:
    return admin.request(
        "OPTIONS",
        "/topics/orders",
        headers={
            "origin": origin,
            "access-control-request-method": "PATCH",
            "access-control-request-headers": headers,
        },
    )


def test_without_the_setting_no_response_has_a_cors_header(admin: FakeAdmin) -> None:
    for response in (preflight(admin, PAGE), admin.get("/topics", {"origin": PAGE})):
        assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("setting", "allowed"), [(f"{PAGE},http://b.example", PAGE), ("*", "*")])
def test_a_page_of_an_allowed_origin_may_read_responses(setting: str, allowed: str) -> None:
    admin = FakeAdmin(access_control_allow_origin=setting)
    response = preflight(admin, PAGE, "content-type,x-correlation-id")
    assert response.status == 200
    assert "PATCH" in response.headers["access-control-allow-methods"]
    assert response.headers["access-control-allow-headers"] == "content-type,x-correlation-id"
    for read in (
        response,
        admin.get("/topics", {"origin": PAGE}),
        admin.get("/none", {"origin": PAGE}),
    ):
        assert read.headers["access-control-allow-origin"] == allowed
        assert "access-control-allow-credentials" not in read.headers


def test_a_page_of_another_origin_may_read_nothing() -> None:
    admin = FakeAdmin(access_control_allow_origin=PAGE)
    other = "http://evil.example"
    for response in (preflight(admin, other), admin.get("/topics", {"origin": other})):
        assert "access-control-allow-origin" not in response.headers
    assert preflight(admin, other).json["message"] == "Disallowed CORS origin"


@pytest.mark.parametrize(
    ("setting", "allowed", "vary"),
    [(PAGE, PAGE, "Origin"), ("*", "*", None), ("http://b", None, None)],
)
def test_a_page_of_an_allowed_origin_may_read_a_refusal_ahead_of_the_routes(
    setting: str, allowed: str | None, vary: str | None
) -> None:
    admin = FakeAdmin(access_control_allow_origin=setting)
    headers = {"origin": PAGE, "content-type": "text/plain"}
    refused = admin.request("POST", "/topics", raw=b"a", headers=headers)
    assert refused.status == (415 if allowed else 403)
    assert refused.headers.get("access-control-allow-origin") == allowed
    assert refused.headers.get("vary") == vary
