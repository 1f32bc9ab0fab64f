"""The errors of requests whose commit fails, or that arrive before committed offsets are loaded."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.classic_requests import join_request
from tests.fakes.client import FakeKafka
from tests.fakes.offset_requests import at, commit, offsets_of
from tests.fakes.plain_requests import REQUESTS
from tests.fakes.requests import metadata, produce
from tests.fakes.results import error_codes
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import new

FROM_OFFSET_1 = [{"partition_index": 0, "offset": 1}]

CHANGES: list[tuple[Request, int, int]] = [
    (produce(), 9, 56),
    (metadata("new", "t"), 12, 56),
    (request_for("create_topics", topics=[new("new")]), 7, 56),
    *((REQUESTS[name](2), 2, 56) for name in ("create_partitions", "delete_topics")),
    *((REQUESTS[name](1), 1, 56) for name in ("alter_configs", "incremental_alter_configs")),
    (request_for("delete_records", topics=[{"name": "t", "partitions": FROM_OFFSET_1}]), 2, 56),
    (REQUESTS["init_producer_id"](4), 4, 14),
    (REQUESTS["offset_commit"](9), 9, 15),
    *((REQUESTS[name](0), 0, 15) for name in ("offset_delete", "delete_groups")),
    (join_request(group_id="new"), 3, 15),
    (REQUESTS["consumer_group_heartbeat"](1), 1, 15),
]


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(group_initial_rebalance_delay_ms="0")
    kafka.topic("t")
    kafka.appended(record_batch(["a", "b"]))
    commit(kafka.client(), "g", ("t", [at(0)]))
    return kafka


def state(kafka: FakeKafka) -> object:
    topics = [(one.name, one.partition_ids, one.configs) for one in kafka.broker.catalog]
    partition = kafka.partition()
    groups = [one.group_id for one in kafka.broker.groups.registry]
    offsets = offsets_of(kafka.client(), "g")
    return topics, partition.log_start_offset, partition.end.next_offset, groups, offsets


@pytest.mark.parametrize(
    ("request_", "version", "code"), CHANGES, ids=[type(one[0]).__name__ for one in CHANGES]
)
def test_a_request_whose_commit_fails_changes_nothing_and_can_be_repeated(
    kafka: FakeKafka, request_: Request, version: int, code: int
) -> None:
    before, client = state(kafka), kafka.client()
    kafka.commit.fail_next()
    assert error_codes(client.request(request_, version)) - {0} == {code}
    assert state(kafka) == before
    assert error_codes(client.request(request_, version)) <= {0}


@pytest.mark.parametrize(
    ("name", "version"),
    [
        *(("join_group", 9), ("sync_group", 5), ("heartbeat", 4), ("leave_group", 5)),
        *(("offset_commit", 9), ("offset_delete", 0), ("delete_groups", 2), ("list_groups", 5)),
        *(("consumer_group_heartbeat", 1), ("describe_groups", 6), ("consumer_group_describe", 1)),
    ],
)
def test_until_offsets_are_loaded_requests_of_groups_get_a_retriable_error(
    kafka: FakeKafka, name: str, version: int
) -> None:
    kafka.broker.groups.offsets.loaded = False
    assert 14 in error_codes(kafka.client().request(REQUESTS[name](version), version))
