"""KafkaJS's admin client, on groups of KafkaJS."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.groups.conftest import Join
from tests.e2e.groups.members import ClientProcess, Flavour, Refused, wait_for_shares
from tests.e2e.groups.numbers import Numbers

Admin = Callable[[str, Any], Any]


@pytest.fixture
def flavour() -> Flavour:
    return Flavour("kafkajs", {})


@pytest.fixture
def admin(client_process: Callable[[str], ClientProcess], bootstrap: str) -> Admin:
    process = client_process("kafkajs")

    def call(method: str, argument: Any = None) -> Any:
        fields = {"bootstrap": bootstrap, "method": method, "argument": json.dumps(argument)}
        return process.ask_for(do="admin", **fields)

    return call


@pytest.fixture
def idle_group(bootstrap: str, topic: str, group: str, join: Join) -> str:
    """Ten records, of which 4 are committed; no members."""
    Numbers(bootstrap, topic).produce(10)
    member = join(topic, commit="manual")
    member.take(10)
    member.do("commit", (topic, 0, 4))
    member.leave()
    return group


def committed(admin: Admin, group: str, topic: str) -> str:
    [of_topic] = admin("fetchOffsets", {"groupId": group, "topics": [topic]})
    [partition] = of_topic["partitions"]
    return str(partition["offset"])


# The next two take KafkaJS five seconds each: it joins the group to commit, and leaves slowly.


def test_offsets_are_fetched_and_set(admin: Admin, idle_group: str, topic: str, join: Join) -> None:
    assert committed(admin, idle_group, topic) == "4"
    where = {"groupId": idle_group, "topic": topic}
    admin("setOffsets", {**where, "partitions": [{"partition": 0, "offset": "7"}]})
    assert committed(admin, idle_group, topic) == "7"
    assert [record.offset for record in join(topic).take(3)] == [7, 8, 9]


@pytest.mark.long
def test_offsets_are_reset(admin: Admin, idle_group: str, topic: str, join: Join) -> None:
    admin("resetOffsets", {"groupId": idle_group, "topic": topic, "earliest": True})
    assert (
        committed(admin, idle_group, topic) == "-2"
    )  # KafkaJS commits its value for the earliest offset
    assert [record.offset for record in join(topic).take(3)] == [0, 1, 2]


def test_an_unknown_group_has_no_offsets(admin: Admin, group: str, topic: str) -> None:
    assert committed(admin, group, topic) == "-1"


def test_groups_are_listed_and_described(admin: Admin, group: str, topic: str, join: Join) -> None:
    members = [join(topic)]
    wait_for_shares(members, topic, 1)
    assert {"groupId": group, "protocolType": "consumer"} in admin("listGroups", None)["groups"]
    [described] = admin("describeGroups", [group])["groups"]
    assert (described["state"], described["protocol"]) == ("Stable", "RoundRobinAssigner")
    assert [one["clientId"] for one in described["members"]] == [members[0].name]


def test_an_idle_group_is_deleted_and_a_live_one_is_not(
    admin: Admin, idle_group: str, topic: str, join: Join
) -> None:
    assert admin("deleteGroups", [idle_group])[0]["errorCode"] == 0
    assert idle_group not in [one["groupId"] for one in admin("listGroups", None)["groups"]]
    wait_for_shares([join(topic)], topic, 1)
    with pytest.raises(Refused, match="DeleteGroups"):
        admin("deleteGroups", [idle_group])
