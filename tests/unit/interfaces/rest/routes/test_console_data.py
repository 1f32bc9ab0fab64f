from __future__ import annotations

from typing import Any

import pytest

from application.metrics.families.request_counts import RequestCounts
from application.metrics.history import INTERVAL_MS
from domain.errors import StorageFailed
from tests.fakes.admin import FakeAdmin, RestResponse, facts
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.classic_members import Member
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import Modern


@pytest.fixture(autouse=True)
def filled(kafka: FakeKafka, group: str) -> None:
    kafka.topic("empty")
    kafka.appended(record_batch(["r"] * 3), "t", 1)
    kafka.existing("t").configs["retention.ms"] = "5"


def table(response: RestResponse) -> list[dict[str, Any]]:
    assert response.status == 200, response
    rows: list[dict[str, Any]] = response.json["data"]
    return rows


def size(kafka: FakeKafka, index: int) -> int:
    return kafka.partition("t", index).durable.size_bytes


def test_topics_have_records_size_and_lag(kafka: FakeKafka, admin: FakeAdmin) -> None:
    topics = {one["name"]: one for one in table(admin.get("/console/data/topics"))}
    empty, topic = topics["empty"], topics["t"]
    names = ("records", "lag", "configs", "partitions", "size_bytes")
    assert facts(topic, *names) == (13, 6 + 3, 1, 2, size(kafka, 0) + size(kafka, 1))
    assert facts(empty, *names) == (0, None, 0, 1, 0)


def test_a_topic_has_its_records_size_rate_and_groups(kafka: FakeKafka, admin: FakeAdmin) -> None:
    topic = admin.get("/console/data/topics/t").json
    assert topic == {
        "partitions": 2,
        "records": 13,
        "size_bytes": size(kafka, 0) + size(kafka, 1),
        "at_ms": kafka.clock.now_ms(),
        "oldest_timestamp": TIMESTAMP,
        "expires_at": TIMESTAMP + kafka.partition("t").config.retention_ms,
        "compaction": None,
        "messages_in_per_sec": None,
        "groups": ["g"],
    }
    admin.history.start()
    kafka.scheduler.advance(INTERVAL_MS + 100)
    assert admin.get("/console/data/topics/t").json["messages_in_per_sec"] == 1.3
    assert admin.get("/console/data/topics/none").json["error_code"] == 40403


def test_partitions_have_offsets_and_sizes(kafka: FakeKafka, admin: FakeAdmin) -> None:
    assert table(admin.get("/console/data/partitions?topic=t")) == [
        {"partition": 0, "start_offset": 0, "end_offset": 10, "size_bytes": size(kafka, 0)},
        {"partition": 1, "start_offset": 0, "end_offset": 3, "size_bytes": size(kafka, 1)},
    ]


def test_an_unreadable_partition_has_no_figures(kafka: FakeKafka, admin: FakeAdmin) -> None:
    kafka.partition("t", 1).broken = StorageFailed("torn")
    kafka.log.failing = StorageFailed("torn")
    lines = table(admin.get("/console/data/partitions?topic=t"))
    assert [line["end_offset"] for line in lines] == [10, None]
    [topic] = [line for line in table(admin.get("/console/data/topics")) if line["name"] == "t"]
    assert (topic["records"], topic["size_bytes"], topic["lag"]) == (None, None, 6)


def test_groups_have_their_lag_also_in_one_topic(admin: FakeAdmin) -> None:
    [group] = table(admin.get("/console/data/groups"))
    same = {"group_id": "g", "state": "Empty", "members": 0, "lag": 9}
    assert group == {**same, "kind": "classic", "topics": 1}
    [consumer] = table(admin.get("/console/data/consumers?topic=t"))
    assert consumer == {**same, "partitions": 2}
    assert table(admin.get("/console/data/consumers?topic=empty")) == []


def test_a_group_has_its_members_and_its_lag(admin: FakeAdmin, member: Member) -> None:
    group = admin.get("/console/data/groups/g").json
    assert facts(group, "state", "kind", "assignor") == ("Stable", "classic", "range")
    assert group["members"][0]["assigned"] == {"t": [0, 1]}
    names = ("topic", "partition", "current_offset", "end_offset", "lag")
    assert facts(group["partitions"][0], *names) == ("t", 0, 4, 10, 6)
    owner = facts(group["partitions"][0], "member_id", "client_id")
    assert owner == (member.member_id, "a-client")


def test_a_group_of_the_new_protocol_has_an_assignor(kafka: FakeKafka, admin: FakeAdmin) -> None:
    modern = Modern(kafka)
    modern.join()
    modern.beat()
    group = admin.get("/console/data/groups/g").json
    assert (group["kind"], group["assignor"]) == ("consumer", "uniform")


def test_the_overview_has_totals_groups_and_facts(kafka: FakeKafka, admin: FakeAdmin) -> None:
    counts = RequestCounts()
    counts.bytes_in, counts.bytes_out = 100, 50
    counts.total.places[10] = 3
    counts.errors.update([3])
    admin.counted += [("Produce", 9, counts), ("Produce", 10, counts), ("Fetch", 12, counts)]
    admin.checks["storage"] = lambda: "the disk is full"
    overview = admin.get("/console/data/overview").json
    names = ("messages_in", "requests", "errors", "bytes_in", "bytes_out")
    assert facts(overview["totals"], *names) == (13, 9, 3, 300, 150)
    assert overview["durations"]["produce"][10] == 6
    assert (overview["topics"], overview["partitions"]) == (2, 3)
    assert (overview["groups"], overview["groups_with_lag"]) == (1, 1)
    assert overview["lagging"] == [{"group_id": "g", "state": "Empty", "lag": 9}]
    assert overview["disk"]["data_bytes"] == size(kafka, 0) + size(kafka, 1)
    assert overview["not_ready"] == ["the disk is full"]
    assert overview["broker"]["listeners"] == [
        {"name": "PLAINTEXT", "address": "127.0.0.1:9092", "advertised": None}
    ]
