from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka

EARLIEST = -2


@pytest.fixture
def kafka() -> FakeKafka:
    """Topic t with offsets 0-2 and 3-4 in the first of its two partitions."""
    kafka = FakeKafka()
    kafka.topic("t", 2)
    kafka.appended(record_batch(["a", "b", "c"]))
    kafka.appended(record_batch(["d", "e"]))
    return kafka


def delete(client: FakeClient, *wanted: tuple[str, int, int], version: int = 2) -> Any:
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
        for name, index, offset in wanted
    ]
    answer = client.ask(DeleteRecordsRequest(topics=topics, timeout_ms=1000), version)
    return [
        (topic.name, one.partition_index, one.low_watermark, one.error_code)
        for topic in answer.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", range(3))
def test_the_new_start_is_told(client: FakeClient, version: int) -> None:
    assert delete(client, ("t", 0, 4), version=version) == [("t", 0, 4, 0)]
    assert delete(client, ("t", 0, -1), version=version) == [("t", 0, 5, 0)]


def test_each_refusal_to_delete_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("compacted", cleanup_policy="compact")
    answers = delete(
        client, ("t", 0, 6), ("compacted", 0, 0), ("t", 1, -5), ("t", 9, 0), ("nope", 0, 0)
    )
    assert sorted(answers) == [
        ("compacted", 0, -1, 44),
        ("nope", 0, -1, 3),
        ("t", 0, -1, 1),
        ("t", 1, -1, 1),
        ("t", 9, -1, 3),
    ]


def test_a_store_that_keeps_nothing_deletes_nothing(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete(client, ("t", 0, 2)) == [("t", 0, -1, 56)]
    assert kafka.partition().log_start_offset == 0


def test_what_is_named_twice_counts_as_last_said(client: FakeClient) -> None:
    assert delete(client, ("t", 0, 4), ("t", 0, 2)) == [("t", 0, 2, 0)]


def test_everybody_sees_the_new_start(client: FakeClient) -> None:
    delete(client, ("t", 0, 4))
    [earliest] = client.ask(
        ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name="t",
                    partitions=[ListOffsetsPartition(partition_index=0, timestamp=EARLIEST)],
                )
            ],
        ),
        5,
    ).topics
    assert earliest.partitions[0].offset == 4
    fetched = [fetch(client, offset) for offset in (0, 3, 4)]
    assert [(one.error_code, one.log_start_offset) for one in fetched] == [(1, -1), (1, -1), (0, 4)]
    assert fetched[2].records[:8] == (3).to_bytes(8, "big")


def fetch(client: FakeClient, offset: int, **session: int) -> Any:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    answer = client.ask(
        FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            topics=[FetchTopic(topic="t", partitions=[wanted])],
            **session,  # type: ignore[arg-type]
        ),
        11,
    )
    return answer.responses[0].partitions[0]


def test_a_fetch_session_tells_that_the_start_has_moved(
    kafka: FakeKafka, client: FakeClient
) -> None:
    def ask(session_id: int, epoch: int, *topics: FetchTopic) -> Any:
        return client.ask(
            FetchRequest(
                max_wait_ms=0,
                min_bytes=0,
                max_bytes=1 << 20,
                session_id=session_id,
                session_epoch=epoch,
                topics=list(topics),
            ),
            11,
        )

    wanted = FetchPartition(partition=0, fetch_offset=5, partition_max_bytes=1 << 20)
    opened = ask(0, 0, FetchTopic(topic="t", partitions=[wanted]))
    assert ask(opened.session_id, 1).responses == []
    delete(client, ("t", 0, 3))
    [told] = ask(opened.session_id, 2).responses
    assert told.partitions[0].log_start_offset == 3
    assert ask(opened.session_id, 3).responses == []


def test_who_waits_hears_that_the_start_has_moved(kafka: FakeKafka, client: FakeClient) -> None:
    wanted = FetchPartition(partition=0, fetch_offset=5, partition_max_bytes=1 << 20)
    client.send(
        FetchRequest(
            max_wait_ms=60_000,
            min_bytes=1,
            max_bytes=1 << 20,
            topics=[FetchTopic(topic="t", partitions=[wanted])],
        ),
        11,
    )
    kafka.run()
    assert client.answers() == []
    delete(kafka.client(), ("t", 0, -1))
    [answer] = client.answers()
    [one] = answer.responses[0].partitions
    assert (one.error_code, one.log_start_offset, one.records) == (0, 5, b"")
