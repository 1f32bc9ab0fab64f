from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.copies import FakeCopies
from tests.fakes.structs import request_for
from tests.fakes.transactions import aborted, append_in_transaction

PRODUCER = 7


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    append_in_transaction(kafka, PRODUCER)
    kafka.run()
    return kafka


def write(client: FakeClient, name: str = "t", epoch: int = 0) -> list[int]:
    topics = [{"name": name, "partition_indexes": [0]}]
    marker: dict[str, Any] = {"producer_id": PRODUCER, "producer_epoch": epoch, "topics": topics}
    response = client.request(request_for("write_txn_markers", markers=[marker]), 1)
    [result] = response.markers
    return [one.error_code for topic in result.topics for one in topic.partitions]


def test_an_admin_ends_a_hanging_transaction(kafka: FakeKafka, client: FakeClient) -> None:
    assert kafka.partition().last_stable_offset == 0
    assert write(client) == [0]
    assert kafka.partition().last_stable_offset == 2
    assert aborted(kafka) == [(PRODUCER, 0, 1, 2)]


def test_a_marker_needs_the_copies_of_acks_all() -> None:
    kafka = FakeKafka(copies=FakeCopies(1))
    kafka.topic("t", min_insync_replicas="2")
    assert write(kafka.client()) == [19]


def test_a_marker_in_a_failed_commit_is_an_error(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert write(client) == [56]
    assert kafka.partition().last_stable_offset == 0


def test_markers_for_internal_topics_are_refused(client: FakeClient, kafka: FakeKafka) -> None:
    assert write(client, "__consumer_offsets") == [3]
