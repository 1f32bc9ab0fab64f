"""Fetch as a client sees it; limits, waiting and sessions are in tests of the application."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import StorageFailed
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.structs import Fields, request_for

Partitions = list[tuple[int, int, int, bytes]]


def topic(*indexes: int, name: str = "t", topic_id: bytes = bytes(16), offset: int = 0) -> Fields:
    partitions = [
        {"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        for index in indexes
    ]
    return {"topic": name, "topic_id": topic_id, "partitions": partitions}


def request(*topics: Fields, wait_ms: int = 0, **facts: Any) -> Request:
    return request_for("fetch", max_wait_ms=wait_ms, min_bytes=1, topics=list(topics), **facts)


def fetch(client: FakeClient, *topics: Fields, version: int = 12, **facts: Any) -> Any:
    return client.request(request(*topics, **facts), version)


def session(session_id: int, epoch: int) -> dict[str, int]:
    return {"session_id": session_id, "session_epoch": epoch}


def partitions(response: Any) -> Partitions:
    return [
        (one.partition_index, one.error_code, one.high_watermark, bytes(one.records))
        for topic in response.responses
        for one in topic.partitions
    ]


def codes(response: Any) -> list[tuple[int, int]]:
    return [(index, code) for index, code, _, _ in partitions(response)]


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    kafka.appended(record_batch(["a", "b"]))
    return kafka


@pytest.mark.parametrize("version", [4, 13])
def test_records_arrive_as_they_are_stored_and_are_never_null(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Topics have ids from version 13 on."""
    by: dict[str, Any] = {"name": "t"}
    if version >= 13:
        by = {"name": "", "topic_id": kafka.existing().topic_id}
    response = fetch(client, topic(0, 1, 7, **by), topic(0, offset=99, **by), version=version)
    assert [(index, code, records) for index, code, _, records in partitions(response)] == [
        (0, 0, kafka.stored()), (1, 0, b""), (7, 3, b""), (0, 1, b"")
    ]  # fmt: skip


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_a_store_that_cannot_be_read_is_code_56(
    kafka: FakeKafka, client: FakeClient, wait_ms: int
) -> None:
    """Also when it fails while the fetch waits."""
    waiting = request(topic(0), wait_ms=wait_ms)
    waiting.min_bytes = 1 << 20
    if wait_ms == 0:
        kafka.log.failing = StorageFailed("cannot read")
    client.send(waiting, 12)
    kafka.log.failing = StorageFailed("cannot read")
    kafka.scheduler.advance(wait_ms)
    assert codes(client.responses()[0]) == [(0, 56)]


# ---- sessions (KIP-227)


def test_a_waiting_fetch_of_a_session_returns_new_records_until_the_offset_moves(
    kafka: FakeKafka, client: FakeClient
) -> None:
    session_id = fetch(client, topic(1, 2), **session(0, 0)).session_id
    client.send(request(wait_ms=500, **session(session_id, 1)), 12)
    kafka.appended(record_batch(["c"]), index=2)
    (response,) = client.responses()
    assert (codes(response), response.session_id) == ([(2, 0)], session_id)
    client.send(request(wait_ms=500, **session(session_id, 2)), 12)
    kafka.scheduler.advance(1)
    assert len(client.responses()) == 1


def test_in_a_session_an_unknown_id_is_an_error_of_its_partition(
    kafka: FakeKafka, client: FakeClient
) -> None:
    """Of each response, also when the topic is deleted meanwhile."""
    known, unknown = kafka.existing().topic_id, b"\7" * 16
    topics = [topic(1, name="", topic_id=one) for one in (known, unknown)]
    first = fetch(client, *topics, version=16, session_epoch=0)
    assert (first.error_code, codes(first)) == (0, [(1, 0), (1, 100)])
    again = fetch(client, version=16, **session(first.session_id, 1))
    assert (again.error_code, codes(again)) == (0, [(1, 100)])
    forgotten = [{"topic_id": unknown, "partitions": [1]}]
    waiting = request(
        wait_ms=60_000, forgotten_topics_data=forgotten, **session(first.session_id, 2)
    )
    client.send(waiting, 16)
    assert client.responses() == []
    kafka.broker.topics.delete_topics.delete([kafka.existing()])
    kafka.run()
    (response,) = client.responses()
    assert [one.topic_id for one in response.responses] == [known]
    assert (response.session_id, codes(response)) == (first.session_id, [(1, 100)])


def test_sessions_start_with_version_7_and_end_with_epoch_minus_one(
    kafka: FakeKafka, client: FakeClient
) -> None:
    assert fetch(client, topic(0), version=6).session_id == 0
    assert len(kafka.broker.messages.fetch_sessions) == 0
    session_id = fetch(client, topic(1), **session(0, 0)).session_id
    assert fetch(client, topic(0), **session(session_id, -1)).session_id == 0
    assert len(kafka.broker.messages.fetch_sessions) == 0
