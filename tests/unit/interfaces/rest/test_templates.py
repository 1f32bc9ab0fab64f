from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "api"),
    [
        ("POST", "/topics", {"content-type": "text/plain"}, 415, "POST /topics"),
        ("DELETE", "/topics/x", {"host": "elsewhere"}, 403, "DELETE /topics/{topic_name}"),
        ("PUT", "/v3/clusters/c/topics/x", {}, 405, "PUT /topics/{topic_name}"),
        (
            "POST",
            "/v3/clusters/c/topics/x/records",
            {"origin": "http://elsewhere"},
            403,
            "POST /topics/{topic_name}/records",
        ),
        ("POST", "/v3/clusters", {"origin": "http://elsewhere"}, 403, "POST /v3/clusters"),
        ("POST", "/nowhere", {}, 404, "POST (no such path)"),
        ("POST", "/v3/clusters/c/nowhere", {}, 404, "POST (no such path)"),
    ],
)
def test_what_is_refused_on_its_way_is_logged_with_its_path(
    method: str, path: str, headers: dict[str, str], status: int, api: str
) -> None:
    admin = FakeAdmin()
    assert admin.ask(method, path, {"a": 1}, headers).status == status
    [line] = admin.fake.events.of("request")
    assert (line["api"], line["path"]) == (api, path)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/topics/no.such", None),
        ("DELETE", "/topics/no.such", None),
        ("PATCH", "/topics/no.such", {"partitions_count": 2}),
        ("GET", "/topics/no.such/partitions/0", None),
        ("GET", "/topics/no.such/configs", None),
        ("PUT", "/topics/no.such/configs/retention.ms", {"value": "1"}),
        ("GET", "/topics/no.such/records", None),
        ("POST", "/topics/no.such/records", {"value": {"type": "STRING", "data": "x"}}),
        ("POST", "/topics/no.such:truncate", {}),
        ("POST", "/topics/no.such:clone", {"topic_name": "other"}),
    ],
)
def test_a_topic_that_is_not_there_is_told_in_the_same_words_everywhere(
    method: str, path: str, body: object
) -> None:
    answer = FakeAdmin().ask(method, path, body)
    told = answer.json["error_code"], answer.json["message"]
    assert (answer.status, told) == (404, (40403, "There is no topic no.such"))
