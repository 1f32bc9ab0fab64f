from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.client import FakeKafka


def test_a_topic_is_created_listed_and_deleted(admin: FakeAdmin) -> None:
    made = admin.post("/topics", {"topic_name": "orders", "partitions_count": 3})
    assert made.status == 201
    assert made.headers["location"] == made.json["metadata"]["self"]
    assert made.json["partitions_count"] == 3
    assert admin.get("/topics/orders").json == made.json
    listed = admin.get("/topics").json
    assert listed["kind"] == "KafkaTopicList"
    assert listed["data"] == [made.json]
    assert admin.request("DELETE", "/topics/orders").status == 204
    assert admin.get("/topics/orders").status == 404
    assert admin.get("/topics").json["data"] == []


def test_the_log_has_a_change_with_the_address_of_its_client(admin: FakeAdmin) -> None:
    admin.post("/topics", {"topic_name": "t"})
    admin.request("DELETE", "/topics/t")
    events = admin.fake.events
    [created], [deleted] = events.of("topic_created"), events.of("topic_deleted")
    assert created["peer"] == deleted["peer"] == "192.0.2.1:4711"


def test_the_shape_is_confluents(admin: FakeAdmin) -> None:
    admin.fake.topic("orders")
    body = admin.get(f"{admin.v3}/topics/orders").json
    url = f"http://localhost:8082{admin.v3}/topics/orders"
    cluster = admin.fake.broker.cluster_id
    assert body.pop("topic_id")
    assert body == {
        "kind": "KafkaTopic",
        "metadata": {"self": url, "resource_name": f"crn:///kafka={cluster}/topic=orders"},
        "cluster_id": cluster,
        "topic_name": "orders",
        "is_internal": False,
        "replication_factor": 1,
        "partitions_count": 1,
        "partitions": {"related": f"{url}/partitions"},
        "configs": {"related": f"{url}/configs"},
        "partition_reassignments": {"related": f"{url}/partitions/-/reassignment"},
    }


def test_an_internal_topic_is_neither_deleted_nor_truncated() -> None:
    kafka = FakeKafka(offsets_topic="on", offsets_topic_num_partitions="1")
    kafka.broker.start_upkeep()
    kafka.scheduler.advance(100)
    admin = FakeAdmin(kafka)
    path = "/topics/__consumer_offsets"
    assert admin.get(path).json["is_internal"]
    assert admin.request("DELETE", path).json["error_code"] == 40002
    [partition] = admin.post(f"{path}:truncate", {}).json["partitions"]
    assert partition["error_code"] == 40002


@pytest.mark.parametrize(
    "configs",
    [
        [{"name": "retention.ms", "value": "1000"}, {"name": "preallocate", "value": "true"}],
        {"retention.ms": 1000, "preallocate": True},
    ],
)
def test_configs_come_as_a_list_or_as_an_object(admin: FakeAdmin, configs: object) -> None:
    made = admin.post("/topics", {"name": "t", "partitions": 2, "configs": configs})
    assert made.status == 201
    topic = admin.fake.existing("t")
    assert topic.configs == {"retention.ms": "1000", "preallocate": "true"}
    assert len(topic.partition_ids) == 2


@pytest.mark.parametrize("validate_only", [False, True])
def test_the_response_has_a_warning_for_each_config_without_effect(
    admin: FakeAdmin, validate_only: bool
) -> None:
    changes = {
        "configs": {"file.delete.delay.ms": 5, "max.message.bytes": 50, "segment.ms": 604800000},
        "partitions": 2,
        "validate_only": validate_only,
    }
    warnings = ["file.delete.delay.ms has no effect in this broker: there are no segment files"]
    assert admin.post("/topics", {"name": "new", **changes}).json["warnings"] == warnings
    admin.fake.topic("t")
    admin.fake.events.lines.clear()
    assert admin.request("PATCH", "/topics/t", changes).json["warnings"] == warnings
    assert len(admin.fake.events.of("config_without_effect")) == 1
    assert "warnings" not in admin.get("/topics/t").json


def test_validate_only_creates_nothing(admin: FakeAdmin) -> None:
    response = admin.post("/topics", {"name": "t", "partitions": 5, "validate_only": True})
    assert (response.status, response.json["partitions_count"]) == (200, 5)
    assert "location" not in response.headers, "there is nothing"
    assert admin.get("/topics/t").status == 404


def test_partitions_can_be_assigned_to_this_broker(admin: FakeAdmin) -> None:
    assigned = [{"partition_id": 0, "broker_ids": [1]}, {"partition_id": 1, "broker_ids": [1]}]
    response = admin.post("/topics", {"name": "t", "replicas_assignments": assigned})
    assert response.json["partitions_count"] == 2


def test_a_topic_that_cannot_be_persisted_does_not_exist(admin: FakeAdmin) -> None:
    admin.fake.commit.fail_next()
    response = admin.post("/topics", {"name": "t"})
    assert (response.status, response.json["message"]) == (503, "the disk is full")
    assert admin.get("/topics/t").status == 404


def test_deleting_is_refused_when_disabled() -> None:
    forbidding = FakeAdmin(delete_topic_enable="false")
    forbidding.fake.topic("t")
    assert forbidding.request("DELETE", "/topics/t").json["error_code"] == 40002


def test_retention_has_the_oldest_records_and_when_they_expire(admin: FakeAdmin) -> None:
    fake = admin.fake
    fake.topic("t", 3, retention_ms="1000", retention_bytes="10")
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP - 100))
    fake.append(record_batch(["a"]), index=1)
    fake.appended(record_batch(["b"]), index=1)
    size, keys = len(record_batch(["a"])), ("size_bytes", "oldest_timestamp", "expires_at")
    listed = admin.get("/topics/t/retention").json
    assert listed["kind"] == "TopicRetention"
    assert [tuple(one[key] for key in keys) for one in listed["data"]] == [
        (size, TIMESTAMP - 100, TIMESTAMP + 900),
        (2 * size, TIMESTAMP, fake.clock.now_ms()),
        (0, None, None),
    ]


def test_compaction_has_what_is_dirty_and_what_was_removed(admin: FakeAdmin) -> None:
    fake = admin.fake
    fake.topic("t", 2, cleanup_policy="compact", segment_ms="1")
    fake.broker.start_upkeep()

    def append(count: int) -> None:
        for _ in range(count):
            fake.scheduler.advance(10)
            fake.appended(record_batch([("k", "v", (), fake.clock.now_ms())]))

    append(4)
    fake.scheduler.advance(fake.config.log_cleaner_backoff_ms)
    append(3)
    listed = admin.get("/topics/t/compaction").json
    assert listed["kind"] == "TopicCompaction"
    first, second = listed["data"]
    assert (first["partition_id"], first["first_dirty_offset"]) == (0, 3)
    assert (first["dirty_ratio"], first["records_removed"]) == (0.75, 2)
    assert TIMESTAMP < first["compacted_at"] < fake.clock.now_ms()
    assert (second["dirty_ratio"], second["compacted_at"], second["records_removed"]) == (
        0,
        None,
        0,
    )
    assert (first["first_uncleanable_offset"], first["uncleanable_reason"]) == (6, "active_segment")
    assert admin.get("/console/data/topics/t").json["compaction"] == {
        "dirty_ratio": 0.75,
        "min_dirty_ratio": 0.5,
        "uncleanable": {"active_segment": 1},
        "compacted_at": first["compacted_at"],
        "records_removed": 2,
    }


@pytest.mark.parametrize(
    "settings, configs, found",
    [
        ({}, {}, (0, "active_segment")),
        ({}, {"segment_ms": "1", "min_compaction_lag_ms": "25"}, (2, "min.compaction.lag.ms")),
        ({"log_cleaner_enable": "false"}, {"segment_ms": "1"}, (3, "log.cleaner.enable")),
    ],
)
def test_compaction_has_why_records_are_not_compacted_yet(
    settings: dict[str, str], configs: dict[str, str], found: tuple[int, str]
) -> None:
    admin = FakeAdmin(**settings)
    fake = admin.fake
    fake.topic("t", cleanup_policy="compact", **configs)
    for _ in range(4):
        fake.scheduler.advance(10)
        fake.appended(record_batch([("k", "v", (), fake.clock.now_ms())]))
    fake.scheduler.advance(10)
    [row] = admin.get("/topics/t/compaction").json["data"]
    assert (row["first_uncleanable_offset"], row["uncleanable_reason"]) == found
