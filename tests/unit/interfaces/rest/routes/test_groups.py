from __future__ import annotations

from typing import Any

import pytest

from domain.cluster.nodes import Node
from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.classic_members import Member
from tests.fakes.client import FakeKafka
from tests.fakes.groups import coordinate_on
from tests.fakes.mixed_group import Modern, classic

pytestmark = pytest.mark.usefixtures("group")


def test_a_group_that_only_commits(admin: FakeAdmin) -> None:
    [group] = admin.get("/groups").json["data"]
    assert group["kind"] == "KafkaConsumerGroup"
    assert admin.get("/groups/g").json == group
    assert admin.get(f"{admin.v3}/consumer-groups/g").json == group
    names = ("consumer_group_id", "is_simple", "partition_assignor", "state", "type")
    assert facts(group, *names) == ("g", True, "", "EMPTY", "classic")
    for name in ("coordinator", "consumers", "lag_summary"):
        assert admin.get(group[name]["related"]).status == 200, name


def test_a_classic_group_and_its_members(admin: FakeAdmin, member: Member) -> None:
    group = admin.get("/groups/g").json
    names = ("is_simple", "partition_assignor", "state", "members_count")
    assert facts(group, *names) == (False, "range", "STABLE", 1)
    [consumer] = admin.get("/groups/g/consumers").json["data"]
    assert facts(consumer, "consumer_id", "client_id") == (member.member_id, "a-client")
    path = f"/groups/g/consumers/{member.member_id}"
    assert admin.get(path).json == consumer
    assigned = admin.get(f"{path}/assignments").json["data"]
    assert [facts(one, "topic_name", "partition_id") for one in assigned] == [("t", 0), ("t", 1)]
    assert admin.get(f"{path}/assignments/t/partitions/1").json == assigned[1]
    assert admin.get(assigned[0]["lag"]["related"]).json["consumer_id"] == member.member_id
    assert admin.get(f"{path}/assignments/t/partitions/2").json["error_code"] == 40409


def test_a_consumer_group(kafka: FakeKafka, admin: FakeAdmin) -> None:
    modern = Modern(kafka)
    modern.join()
    modern.beat()
    group = admin.get("/groups/g").json
    names = ("type", "partition_assignor", "state", "is_simple")
    assert facts(group, *names) == ("consumer", "uniform", "STABLE", False)
    [consumer] = admin.get("/groups/g/consumers").json["data"]
    assert consumer["consumer_id"] == "m"


def test_a_state_is_named_as_confluents_server_names_it(
    kafka: FakeKafka, admin: FakeAdmin, member: Member
) -> None:
    classic(kafka).begin_join(version=3)
    kafka.run()
    assert admin.get("/groups/g").json["state"] == "PREPARING_REBALANCE"


def test_lag(admin: FakeAdmin, member: Member) -> None:
    lags = admin.get("/groups/g/lags").json["data"]
    names = ("topic_name", "partition_id", "current_offset", "log_end_offset", "lag")
    assert [facts(lag, *names) for lag in lags] == [("t", 0, 4, 10, 6), ("t", 1, 0, 0, 0)]
    assert facts(lags[0], "consumer_id", "client_id") == (member.member_id, "a-client")
    assert admin.get("/groups/g/lags/t/partitions/0").json == lags[0]
    summary = admin.get("/groups/g/lag-summary").json
    worst = ("max_lag", "total_lag", "max_lag_topic_name", "max_lag_partition_id")
    assert facts(summary, *worst) == (6, 6, "t", 0)
    assert summary["max_lag_consumer_id"] == member.member_id
    page = admin.get("/groups/g/lags?page_size=1").json
    assert page["data"] + admin.get(page["metadata"]["next"]).json["data"] == lags


def test_a_group_without_committed_offsets_has_no_lag(kafka: FakeKafka, admin: FakeAdmin) -> None:
    classic(kafka, group_id="new").begin_join(version=3)
    kafka.run()
    assert admin.get("/groups/new/lags").json["data"] == []
    assert admin.get("/groups/new/lag-summary").json["error_code"] == 40408


def test_a_group_is_deleted_with_its_offsets(kafka: FakeKafka, admin: FakeAdmin) -> None:
    assert admin.request("DELETE", "/groups/g").status == 204
    assert kafka.broker.groups.offsets.of("g") == {}
    assert admin.get("/groups/g").json["error_code"] == 40404


def test_offsets_are_reset_and_with_dry_run_only_shown(kafka: FakeKafka, admin: FakeAdmin) -> None:
    reset = {"to": "latest", "topic": "t", "partitions": [0]}
    shown = admin.post("/groups/g/offsets", {**reset, "dry_run": True}).json
    assert shown["dry_run"] is True
    [moved] = shown["data"]
    names = ("topic_name", "partition_id", "before", "after", "log_start_offset", "log_end_offset")
    assert facts(moved, *names) == ("t", 0, 4, 10, 0, 10)
    assert kafka.broker.groups.offsets.of("g")["t"][0].offset == 4
    done = admin.post("/groups/g/offsets", reset).json
    assert done["data"] == shown["data"]
    assert kafka.broker.groups.offsets.of("g")["t"][0].offset == 10


@pytest.mark.parametrize(
    "reset, after",
    [
        ({"to": "earliest"}, 0),
        ({"to": "start"}, 0),
        ({"to": "end"}, 10),
        ({"to": "offset", "offset": 3}, 3),
        ({"to": "shift_by", "shift_by": -1}, 3),
        ({"to": "timestamp", "timestamp": 0}, 0),
        ({"to": "timestamp", "timestamp": "2099-01-01T00:00:00+02:00"}, 10),
    ],
)
def test_targets_of_a_reset(admin: FakeAdmin, reset: dict[str, Any], after: int) -> None:
    response = admin.post(f"{admin.v3}/consumer-groups/g/offsets", reset)
    assert [one["after"] for one in response.json["data"]] == [after, 0]


def test_offsets_that_cannot_be_persisted_stay(kafka: FakeKafka, admin: FakeAdmin) -> None:
    kafka.commit.fail_next()
    assert admin.post("/groups/g/offsets", {"to": "earliest"}).status == 503
    assert kafka.broker.groups.offsets.of("g")["t"][0].offset == 4


def test_groups_are_unavailable_until_offsets_are_loaded(
    kafka: FakeKafka, admin: FakeAdmin
) -> None:
    kafka.broker.groups.offsets.loaded = False
    for path in ("/groups", "/groups/g", "/groups/g/lags"):
        assert admin.get(path).json["error_code"] == 50302


def test_a_group_of_another_broker_is_not_listed_and_refused_with_its_node(
    admin: FakeAdmin,
) -> None:
    admin.fake.placement.add(Node(2))
    coordinate_on(admin.fake, 2)
    assert admin.get("/groups").json["data"] == []
    response = admin.get("/groups/g")
    assert (response.status, response.json["error_code"]) == (421, 42101)
    assert response.json["message"] == "Node 2 coordinates g."
