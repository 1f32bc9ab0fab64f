"""Fetch as a client sees it; limits and waiting are in test_fetch of the application."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import StorageFailed
from interfaces.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka

Partitions = list[tuple[int, int, int, bytes]]


def topic(
    *indexes: int, name: str = "t", topic_id: bytes = bytes(16), offset: int = 0, epoch: int = -1
) -> FetchTopic:
    return FetchTopic(
        topic=name,
        topic_id=topic_id,
        partitions=[
            FetchPartition(
                partition=index,
                fetch_offset=offset,
                partition_max_bytes=1 << 20,
                current_leader_epoch=epoch,
            )
            for index in indexes
        ],
    )


def request(*topics: FetchTopic, wait_ms: int = 0, **facts: Any) -> FetchRequest:
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=list(topics), **facts)


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


# ---- answers


def test_records_come_as_they_are_stored(kafka: FakeKafka, client: FakeClient) -> None:
    for version in range(4, 13):
        response = client.ask(request(topic(0)), version)
        assert partitions(response) == [(0, 0, 2, kafka.stored())]
        answer = response.responses[0].partitions[0]
        assert answer.last_stable_offset == 2
        assert answer.log_start_offset == (0 if version >= 5 else -1)
        assert answer.preferred_read_replica == -1


def test_topics_are_named_by_id_from_version_13_on(kafka: FakeKafka, client: FakeClient) -> None:
    known = kafka.existing().topic_id
    for version in range(13, 19):
        response = client.ask(request(topic(0, name="", topic_id=known)), version)
        assert partitions(response) == [(0, 0, 2, kafka.stored())]
        assert response.responses[0].topic_id == known


@pytest.mark.parametrize("version", range(4, 19))
def test_records_are_never_null(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    by = {"name": "", "topic_id": kafka.existing().topic_id} if version >= 13 else {}
    wanted = request(topic(1, 7, **by), topic(0, offset=99, **by))  # type: ignore[arg-type]
    response = client.ask(wanted, version)
    assert [(i, c, r) for i, c, _, r in partitions(response)] == [
        (1, 0, b""), (7, 3, b""), (0, 1, b"")
    ]  # fmt: skip


@pytest.mark.parametrize(("isolation", "expected"), [(0, None), (1, [])])
def test_aborted_transactions_are_a_list_only_for_who_reads_committed(
    client: FakeClient, isolation: int, expected: list[Any] | None
) -> None:
    response = client.ask(request(topic(0, 9), isolation_level=isolation), 12)
    found = [one.aborted_transactions for one in response.responses[0].partitions]
    assert found == [expected, expected]


# ---- codes


def test_each_refusal_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    response = client.ask(
        request(
            topic(0, offset=3),
            topic(0, offset=-1),
            topic(5),
            topic(0, name="nope"),
            topic(0, epoch=1),
            topic(0, epoch=-2),
            topic(0, epoch=0),
        ),
        12,
    )
    assert [code for _, code in codes(response)] == [1, 1, 3, 3, 75, 0, 0]
    assert response.error_code == 0


def test_an_unknown_id_is_code_100(client: FakeClient) -> None:
    assert codes(client.ask(request(topic(0, name="", topic_id=b"\7" * 16)), 13)) == [(0, 100)]


def test_a_store_that_cannot_be_read_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.log.failing = StorageFailed("cannot read")
    assert codes(client.ask(request(topic(0)), 12)) == [(0, 56)]


def test_a_store_that_fails_while_a_fetch_waits_is_code_56(
    kafka: FakeKafka, client: FakeClient
) -> None:
    wanted = request(topic(0), wait_ms=500)
    wanted.min_bytes = 1 << 20
    client.send(wanted, 12)
    kafka.log.failing = StorageFailed("cannot read")
    kafka.scheduler.advance(500)
    assert codes(client.answers()[0]) == [(0, 56)]


# ---- waiting


def test_a_fetch_is_answered_when_there_is_something(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(request(topic(1, 2), wait_ms=500), 12)
    assert client.answers() == []
    kafka.appended(record_batch(["c"]), index=2)
    (response,) = client.answers()
    assert partitions(response)[1] == (2, 0, 1, kafka.stored(index=2))


def test_after_its_time_it_is_answered_with_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(request(topic(1), wait_ms=500), 12)
    kafka.scheduler.advance(500)
    assert partitions(client.answers()[0]) == [(1, 0, 0, b"")]


# ---- sessions (KIP-227)


def ask(client: FakeClient, session_id: int, epoch: int, *topics: FetchTopic, **facts: Any) -> Any:
    wanted = request(*topics, session_id=session_id, session_epoch=epoch, **facts)
    return client.ask(wanted, facts.pop("version", 12))


def test_a_session_tells_everything_once_and_then_what_is_new(
    kafka: FakeKafka, client: FakeClient
) -> None:
    first = ask(client, 0, 0, topic(0, 1, 2, offset=0))
    session_id = first.session_id
    assert session_id > 0
    assert codes(first) == [(0, 0), (1, 0), (2, 0)]
    second = ask(client, session_id, 1, topic(0, offset=2))
    assert (second.session_id, second.responses) == (session_id, [])
    kafka.appended(record_batch(["c"]), index=1)
    third = ask(client, session_id, 2)
    assert partitions(third) == [(1, 0, 1, kafka.stored(index=1))]
    forgotten = [ForgottenTopic(topic="t", partitions=[1])]
    assert ask(client, session_id, 3, forgotten_topics_data=forgotten).responses == []


def test_a_session_goes_on_in_another_connection(kafka: FakeKafka, client: FakeClient) -> None:
    session_id = ask(client, 0, 0, topic(1)).session_id
    assert ask(kafka.client(), session_id, 1).session_id == session_id


def test_a_session_that_waits_tells_what_came(kafka: FakeKafka, client: FakeClient) -> None:
    session_id = ask(client, 0, 0, topic(1, 2)).session_id
    client.send(request(session_id=session_id, session_epoch=1, wait_ms=500), 12)
    kafka.appended(record_batch(["c"]), index=2)
    (response,) = client.answers()
    assert (codes(response), response.session_id) == ([(2, 0)], session_id)
    client.send(request(session_id=session_id, session_epoch=2, wait_ms=500), 12)
    kafka.scheduler.advance(1)
    assert len(client.answers()) == 1, "what was not moved on from is there again"


@pytest.mark.parametrize(
    ("session_id", "epoch", "expected"), [(999, 1, 70), (0, 1, 70), (None, 5, 71), (None, 2, 71)]
)
def test_a_session_that_is_not_as_the_client_believes_is_refused_as_a_whole(
    client: FakeClient, session_id: int | None, epoch: int, expected: int
) -> None:
    opened = ask(client, 0, 0, topic(1)).session_id
    response = ask(client, opened if session_id is None else session_id, epoch, topic(1))
    assert (response.error_code, response.session_id) == (expected, 0)
    assert response.responses == []


def test_a_session_that_changes_to_ids_is_refused_as_a_whole(
    kafka: FakeKafka, client: FakeClient
) -> None:
    session_id = ask(client, 0, 0, topic(1)).session_id
    by_id = topic(1, name="", topic_id=kafka.existing().topic_id)
    wanted = request(by_id, session_id=session_id, session_epoch=1)
    response = client.ask(wanted, 13)
    assert (response.error_code, response.responses) == (106, [])


def test_inside_a_session_an_unknown_id_fails_its_partition_alone(
    kafka: FakeKafka, client: FakeClient
) -> None:
    known, unknown = kafka.existing().topic_id, b"\7" * 16
    topics = [topic(1, name="", topic_id=one) for one in (known, unknown)]
    first = client.ask(request(*topics, session_epoch=0), 16)
    assert (first.error_code, codes(first)) == (0, [(1, 0), (1, 100)])
    for epoch in (1, 2):
        again = client.ask(request(session_id=first.session_id, session_epoch=epoch), 16)
        assert [one.topic_id for one in again.responses] == [unknown]
        assert (again.error_code, codes(again)) == (0, [(1, 100)])


def test_a_topic_that_is_deleted_is_told_inside_its_session(
    kafka: FakeKafka, client: FakeClient
) -> None:
    by_id = topic(1, name="", topic_id=kafka.existing().topic_id)
    session_id = client.ask(request(by_id, session_epoch=0), 16).session_id
    client.send(request(session_id=session_id, session_epoch=1, wait_ms=60_000), 16)
    deleted = kafka.existing()
    kafka.broker.topics.delete_topics.delete([deleted])
    kafka.run()
    (response,) = client.answers()
    assert (response.session_id, codes(response)) == (session_id, [(1, 100)])


@pytest.mark.parametrize("version", [4, 5, 6])
def test_before_version_7_there_are_no_sessions(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert client.ask(request(topic(0)), version).session_id == 0
    assert len(kafka.broker.messages.fetch_sessions) == 0


def test_epoch_minus_one_ends_a_session(kafka: FakeKafka, client: FakeClient) -> None:
    session_id = ask(client, 0, 0, topic(1)).session_id
    assert ask(client, session_id, -1, topic(0)).session_id == 0
    assert len(kafka.broker.messages.fetch_sessions) == 0
    assert ask(client, session_id, 1).error_code == 70
