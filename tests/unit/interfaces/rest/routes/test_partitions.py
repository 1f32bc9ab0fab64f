from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.batches import record_batch


@pytest.fixture
def admin(admin: FakeAdmin) -> FakeAdmin:
    admin.fake.topic("t", 3)
    admin.fake.appended(record_batch(["a", "b"]), "t", 1)
    return admin


def test_a_partition_has_the_bounds_of_its_log(admin: FakeAdmin) -> None:
    body = admin.get(f"{admin.v3}/topics/t/partitions/1").json
    url = f"http://localhost:8082{admin.v3}/topics/t/partitions/1"
    assert body["metadata"] == {
        "self": url,
        "resource_name": f"crn:///kafka={body['cluster_id']}/topic=t/partition=1",
    }
    links = [body[name]["related"] for name in ("leader", "replicas", "reassignment")]
    assert links == [f"{url}/replicas/1", f"{url}/replicas", f"{url}/reassignment"]
    names = ("topic_name", "partition_id", "log_start_offset", "log_end_offset")
    assert facts(body, *names) == ("t", 1, 0, 2)
    offsets = admin.get("/topics/t/partitions/1/offset").json
    assert (offsets["beginning_offset"], offsets["end_offset"]) == (0, 2)
    listed = admin.get("/topics/t/partitions").json
    assert listed["kind"] == "KafkaPartitionList"
    assert [one["log_end_offset"] for one in listed["data"]] == [0, 2, 0]
    assert listed["data"][1] == body


def test_partitions_come_in_pages(admin: FakeAdmin) -> None:
    first = admin.get("/topics/t/partitions?page_size=2").json
    assert [one["partition_id"] for one in first["data"]] == [0, 1]
    second = admin.get(first["metadata"]["next"]).json
    assert [one["partition_id"] for one in second["data"]] == [2]
    assert second["metadata"]["next"] is None


def test_the_one_replica_is_this_broker(admin: FakeAdmin) -> None:
    [replica] = admin.get("/topics/t/partitions/2/replicas").json["data"]
    assert (replica["broker_id"], replica["is_leader"], replica["is_in_sync"]) == (1, True, True)
    assert admin.get("/topics/t/partitions/2/replicas/1").json == replica


def test_there_are_no_reassignments(admin: FakeAdmin) -> None:
    assert admin.get("/topics/t/partitions/-/reassignment").json["data"] == []
    everywhere = admin.get(f"{admin.v3}/topics/-/partitions/-/reassignment").json
    assert (everywhere["kind"], everywhere["data"]) == ("KafkaReassignmentList", [])


def test_an_unreadable_partition_is_null_in_a_list_and_an_error_alone(admin: FakeAdmin) -> None:
    admin.fake.partition("t", 1).broken = StorageFailed("gone")
    admin.fake.log.failing = StorageFailed("the disk is broken")
    listed = admin.get("/topics/t/partitions").json["data"]
    assert [one["log_end_offset"] for one in listed][1] is None
    alone = admin.get("/topics/t/partitions/1")
    assert (alone.status, alone.json["message"]) == (503, "the disk is broken")
