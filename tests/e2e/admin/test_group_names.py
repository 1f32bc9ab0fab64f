"""A group of any id has a path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest

from tests.e2e.admin.conftest import AdminClient, commit_offset

IDS = [
    "team/orders",
    "/",
    "a//b/",
    "a%2Fb",
    "a%2fb/c",
    "lags",
    "x/lags",
    "a?b#c",
    "blank and +",
    "größe-日本-🦊",
    ";:@&=$,",
    "%FF",
    "\\",
    "...",
    ".",
    "..",
    "",
]


@pytest.fixture
def topic(admin: AdminClient) -> Iterator[str]:
    assert admin.post("/topics", {"name": "named", "partitions": 1}).status == 201
    yield "named"
    assert admin.delete("/topics/named").status == 204


def in_path(group: str) -> str:
    """See docs/rest.md."""
    return ("%FF" if group in ("", ".", "..") else "") + quote(group, safe="")


@pytest.mark.parametrize(
    ("groups", "group"),
    [
        *(("/groups", group) for group in IDS),
        *(("/v3/clusters/CLUSTER/consumer-groups", group) for group in ("team/orders", "..", "")),
    ],
)
def test_a_group_of_any_id_is_shown_reset_and_deleted(
    admin: AdminClient, topic: str, groups: str, group: str
) -> None:
    cluster = admin.get("/v3/clusters").json["data"][0]["cluster_id"]
    path = f"{groups.replace('CLUSTER', cluster)}/{in_path(group)}"
    commit_offset(admin.broker, group, topic)
    found = admin.get(path).json
    assert found["consumer_group_id"] == group
    assert admin.get(urlsplit(found["metadata"]["self"]).path).json == found
    [lag] = admin.get(f"{path}/lags").json["data"]
    assert (lag["consumer_group_id"], lag["topic_name"]) == (group, topic)
    one = admin.get(f"{path}/lags/{topic}/partitions/0").json
    assert one["lag"] == 0
    moved = admin.post(f"{path}/offsets", {"to": "start"})
    if group:
        assert moved.json["consumer_group_id"] == group
    else:  # as in Kafka: existing offsets of the empty id stay, new commits are refused
        assert (moved.status, moved.json["error_code"]) == (400, 40002)
    assert admin.delete(path).status == 204
    assert admin.get(path).json["error_code"] == 40404


def test_an_unescaped_slash_separates_parts_of_the_path(admin: AdminClient, topic: str) -> None:
    commit_offset(admin.broker, "a/lags", topic)
    assert admin.get("/groups/a/lags").json["error_code"] == 40404
    assert admin.get("/groups/a%2Flags").status == 200
    assert admin.get("/groups%2Fa%2Flags").json["error_code"] == 404
    assert admin.delete("/groups/a%2flags").status == 204


def test_a_request_is_logged_with_its_decoded_path_and_its_route(admin: AdminClient) -> None:
    headers = {"x-correlation-id": "a-slash"}
    response = admin.request("GET", "/groups/no%2Fsuch", headers=headers)
    assert "no/such" in response.json["message"]
    line = json.loads(admin.broker.log_line("a-slash"))
    assert (line["event"], line["status"]) == ("request", 404)
    assert (line["api"], line["path"]) == ("GET /groups/{group_id}", "/groups/no/such")


def test_the_prefix_of_special_ids_is_no_part_of_other_names(
    admin: AdminClient, topic: str
) -> None:
    commit_offset(admin.broker, "plain", topic)
    for path in ("/groups/%FFplain", "/groups/pl%FFain", "/groups/%FF...", "/groups/%FF%FF"):
        assert admin.get(path).json["error_code"] == 40404, path
    assert admin.delete("/groups/plain").status == 204
    for path in (f"/topics/%FF{topic}/records", "/topics/a%2Fb", "/topics/%FF", "/topics/%FF.."):
        assert admin.get(path).json["error_code"] == 40403, path
