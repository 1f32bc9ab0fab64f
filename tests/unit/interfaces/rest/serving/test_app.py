"""Failures have one body, and each request has its line in the log."""

from __future__ import annotations

import pytest

from interfaces.rest.serving.app import create_app
from interfaces.rest.serving.gate import Gate
from interfaces.rest.serving.guard import Guard
from tests.fakes.admin import FakeAdmin, RestResponse, facts


def check_failure(response: RestResponse, status: int, code: int) -> None:
    assert response.status == status
    assert response.json.keys() == {"error_code", "message", "correlation_id"}
    assert response.json["error_code"] == code
    assert response.json["message"]
    assert response.json["correlation_id"] == response.headers["x-correlation-id"]


@pytest.mark.parametrize(
    "method, path, allowed",
    [
        ("PUT", "/topics", "GET, HEAD, POST"),
        ("PUT", "/topics/t", "GET, HEAD, PATCH, DELETE"),
        ("PUT", "/topics/t/records", "GET, HEAD, POST"),
        ("POST", "/topics/t/configs/retention.ms", "GET, HEAD, PUT, DELETE"),
        ("GET", "/groups/g/offsets", "POST"),
        ("HEAD", "/topics:truncate", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/", "GET, HEAD"),
    ],
)
def test_an_unknown_method_is_405_with_the_allowed_ones(
    admin: FakeAdmin, method: str, path: str, allowed: str
) -> None:
    for prefix in ("", admin.v3) if path.startswith("/topics") else ("",):
        response = admin.request(method, prefix + path)
        assert response.headers["allow"] == allowed
        if method == "HEAD":
            assert (response.status, response.body) == (405, b"")
        else:
            check_failure(response, 405, 405)


@pytest.mark.parametrize(("method", "path"), [("OPTIONS", "*"), ("GET", "/v2"), ("GET", "/v2x")])
def test_an_odd_path_is_not_found(admin: FakeAdmin, method: str, path: str) -> None:
    check_failure(admin.request(method, path), 404, 404)


def test_an_unknown_action_of_a_topic_is_404(admin: FakeAdmin) -> None:
    for prefix in ("", admin.v3):
        response = admin.request("POST", f"{prefix}/topics/t:nope")
        assert "allow" not in response.headers
        check_failure(response, 404, 404)


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/readyz", "/metrics", "/topics", "/topics/none", "/openapi.json"]
)
def test_head_is_get_without_its_body(admin: FakeAdmin, path: str) -> None:
    admin.fake.topic("t")
    whole, head = admin.get(path), admin.request("HEAD", path)
    assert (head.status, head.body) == (whole.status, b"")
    for name in ("content-type", "content-length", "etag"):
        if path != "/topics/none" or name != "content-length":
            assert head.headers.get(name) == whole.headers.get(name)
    (_, _, of_get), (_, _, line) = admin.fake.events.lines[-2:]
    assert line["api"].startswith("HEAD /")
    assert (line["status"], line["bytes_out"]) == (whole.status, 0)
    assert line["error_codes"] == of_get["error_codes"]


@pytest.mark.parametrize("name", ["records:tail", "records:download"])
def test_head_of_an_endless_response_ends_at_once(admin: FakeAdmin, name: str) -> None:
    admin.fake.topic("t")
    head = admin.request("HEAD", f"/topics/t/{name}")
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    "raw, headers, status, code",
    [
        (b"{", {}, 400, 40001),
        (b"\xff", {}, 400, 400),
        (b'{"name": ' + b"9" * 5000 + b"}", {}, 400, 400),
        (b"[" * 50_000, {}, 400, 400),
        (b" " * 100_001, {}, 413, 413),
        (b"{}", {"content-type": "text/plain"}, 415, 415),
        (b"{}", {"host": "evil.example"}, 403, 40303),
    ],
)
def test_an_invalid_request_is_refused_before_its_route(
    raw: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    admin = FakeAdmin(admin_request_max_bytes="100000")
    check_failure(admin.request("POST", "/topics", raw=raw, headers=headers), status, code)


def test_an_unexpected_error_is_logged_with_its_traceback(
    admin: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError(name)

    monkeypatch.setattr(admin.fake.broker.catalog, "topic", broken)
    check_failure(admin.get("/topics/t"), 500, 500)
    [(level, event, fields)] = admin.fake.events.lines
    assert (level, event) == ("error", "request_failed")
    assert isinstance(fields["error"], ZeroDivisionError)
    assert fields["api"] == "GET /topics/{topic_name}"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "api"),
    [
        ("POST", "/topics", {"content-type": "text/plain"}, 415, "POST (not routed)"),
        ("POST", "/nowhere", {}, 404, "POST (not routed)"),
        ("PUT", "/v3/clusters/c/topics/x", {}, 405, "PUT /topics/{topic_name}"),
    ],
)
def test_a_refused_request_is_logged_with_its_path(
    admin: FakeAdmin, method: str, path: str, headers: dict[str, str], status: int, api: str
) -> None:
    assert admin.request(method, path, {"a": 1}, headers).status == status
    [line] = admin.fake.events.of("request")
    assert (line["api"], line["path"]) == (api, path)


def test_the_correlation_id_comes_back_and_is_in_the_log(admin: FakeAdmin) -> None:
    response = admin.get("/topics/t", {"x-correlation-id": "order-17", "user-agent": "curl/8"})
    check_failure(response, 404, 40403)
    assert response.json["correlation_id"] == "order-17"
    [(level, event, fields)] = admin.fake.events.lines
    assert (level, event) == ("warning", "request")
    assert fields["api"] == "GET /topics/{topic_name}"
    names = ("correlation_id", "path", "status", "error_codes", "software", "peer", "bytes_out")
    assert facts(fields, *names) == (
        *("order-17", "/topics/t", 404, [40403], "curl/8", "192.0.2.1:4711"),
        len(response.body),
    )


def test_a_successful_request_is_one_log_line(admin: FakeAdmin) -> None:
    admin.get("/healthz")
    [(level, event, fields)] = admin.fake.events.lines
    assert (level, event, fields["status"]) == ("info", "request", 200)
    assert fields["error_codes"] == []


def test_a_path_for_tests_names_the_option_that_serves_it(admin: FakeAdmin) -> None:
    app = create_app(admin.admin, testing=False)
    admin.gate = Gate(app, admin.admin, Guard(["127.0.0.1"], [], ()), admin.stopping)
    refused = admin.post("/test/clock", {"advance_ms": 1})
    check_failure(refused, 404, 404)
    assert "--testing" in refused.json["message"]


def test_responses_cannot_be_embedded_in_other_origins(admin: FakeAdmin) -> None:
    for path in ("/", "/topics", "/nowhere"):
        assert admin.get(path).headers["cross-origin-resource-policy"] == "same-origin"
