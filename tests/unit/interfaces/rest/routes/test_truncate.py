"""Records are deleted, and no others."""

from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin, RestResponse
from tests.fakes.batches import TIMESTAMP, record_batch


@pytest.fixture
def some(admin: FakeAdmin) -> FakeAdmin:
    """Three records in one partition, one in the other."""
    admin.fake.topic("t", 2)
    records = [(None, str(number), [], TIMESTAMP + number) for number in range(3)]
    admin.fake.appended(record_batch(records))
    admin.fake.appended(record_batch([(None, "3", [], TIMESTAMP + 3)]), index=1)
    return admin


def offsets(response: RestResponse) -> list[tuple[int, int]]:
    return [(one["partition_id"], one["offset"]) for one in response.json["data"]]


def test_records_of_topics_are_deleted(some: FakeAdmin) -> None:
    response = some.post("/topics/t:truncate", {"before_offset": 1})
    assert response.json["partitions"] == [
        {"partition_id": 0, "log_start_offset": 1},
        {"partition_id": 1, "log_start_offset": 1},
    ]
    chosen = [{"partition_id": 0, "offset": 2}, {"partition": 7}, {"partition": 1, "offset": 9}]
    results = some.post("/topics/t:truncate", {"partitions": chosen}).json["partitions"]
    assert results[0] == {"partition_id": 0, "log_start_offset": 2}
    assert [one["error_code"] for one in results[1:]] == [40403, 40003]
    assert offsets(some.get("/topics/t/records")) == [(0, 2)]
    some.fake.topic("u")
    all_of = some.post("/topics:truncate", {"topic_names": ["t", "u"]}).json["topics"]
    assert [topic["topic_name"] for topic in all_of] == ["t", "u"]
    assert offsets(some.get("/topics/t/records")) == []


def test_an_offset_beyond_the_end_deletes_nothing(some: FakeAdmin) -> None:
    """A typo does not empty a topic: no record of a partition that ends earlier is deleted."""
    before = offsets(some.get("/topics/t/records"))
    ends = {index: max(at for of, at in before if of == index) + 1 for index in (0, 1)}
    refused = some.post("/topics/t:truncate", {"before_offset": max(ends.values()) + 1})
    assert (refused.status, refused.json["error_code"]) == (400, 40003)
    assert offsets(some.get("/topics/t/records")) == before
    assert ends[0] > ends[1]
    response = some.post("/topics/t:truncate", {"before_offset": ends[0]})
    cut, other = response.json["partitions"]
    assert (response.status, cut) == (200, {"partition_id": 0, "log_start_offset": ends[0]})
    assert (other["partition_id"], other["error_code"]) == (1, 40003)
    assert offsets(some.get("/topics/t/records")) == [one for one in before if one[0] == 1]


def test_many_partitions_are_truncated_in_their_order_some_at_a_time(
    some: FakeAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    some.fake.topic("wide", 120)
    sizes: list[int] = []
    service = some.fake.broker.messages.delete_records
    delete = service.delete
    monkeypatch.setattr(
        service,
        "delete",
        lambda partitions, by: (sizes.append(len(partitions)), delete(partitions, by))[1],
    )
    results = some.post("/topics/wide:truncate", {"before_offset": 0}).json["partitions"]
    assert [one["partition_id"] for one in results] == list(range(120))
    assert sizes == [50, 50, 20]
