"""A group may have any id, and each id can stand in a path."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest

from tests.e2e.admin.conftest import AdminClient
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw_client import array, string

OFFSET_COMMIT, COMMIT_VERSION = 8, 2
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
    assert admin.ask("DELETE", "/topics/named").status == 204


def commit(broker: BrokerProcess, group: str, topic: str) -> None:
    """Commits offset 0 of partition 0. Client libraries refuse some of these ids."""
    partition = struct.pack(">iq", 0, 0) + string("")
    body = string(group) + struct.pack(">i", -1) + string("") + struct.pack(">q", -1)
    with broker.connect() as client:
        topics = array([string(topic) + array([partition])])
        answer = client.ask(OFFSET_COMMIT, COMMIT_VERSION, body + topics)
    assert answer.rest()[-2:] == b"\0\0"


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
    commit(admin.broker, group, topic)
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
    else:  # as Kafka: committed offsets of the empty id stay, new ones are refused
        assert (moved.status, moved.json["error_code"]) == (400, 40002)
    assert admin.ask("DELETE", path).status == 204
    assert admin.get(path).json["error_code"] == 40404


def test_an_unescaped_slash_separates_parts_of_the_path(admin: AdminClient, topic: str) -> None:
    commit(admin.broker, "a/lags", topic)
    assert admin.get("/groups/a/lags").json["error_code"] == 40404
    assert admin.get("/groups/a%2Flags").status == 200
    assert admin.get("/groups%2Fa%2Flags").json["error_code"] == 404
    assert admin.ask("DELETE", "/groups/a%2flags").status == 204


def test_the_log_has_the_decoded_path_and_its_template(admin: AdminClient) -> None:
    headers = {"x-correlation-id": "a-slash"}
    answer = admin.ask("GET", "/groups/no%2Fsuch", headers=headers)
    assert "no/such" in answer.json["message"]
    line = admin.broker.log_line("a-slash")
    assert "/groups/no/such" in line
    assert "GET /groups/{group_id}" in line


def test_the_marker_of_special_names_is_no_part_of_other_names(
    admin: AdminClient, topic: str
) -> None:
    commit(admin.broker, "plain", topic)
    for path in ("/groups/%FFplain", "/groups/pl%FFain", "/groups/%FF...", "/groups/%FF%FF"):
        assert admin.get(path).json["error_code"] == 40404, path
    assert admin.get(f"/topics/%FF{topic}/records").json["error_code"] == 40403
    assert admin.ask("DELETE", "/groups/plain").status == 204


def test_a_topic_cannot_have_such_a_name(admin: AdminClient) -> None:
    for path in ("/topics/a%2Fb", "/topics/%FF", "/topics/%FF..", "/topics/a%2Fb/configs"):
        assert admin.get(path).json["error_code"] == 40403, path
