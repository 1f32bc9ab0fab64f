"""Produce as a client sees it; what is refused and why is in test_produce of the application."""

from __future__ import annotations

from typing import Any

import pytest

from application.ports.pending import Pending
from domain.errors import StorageFailed
from domain.topics.topic import Topic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import GZIP, TIMESTAMP, ZSTD, record_batch
from tests.fakes.client import FakeClient, FakeKafka, frame

HOUR_MS = 3_600_000
Batches = dict[int, bytes | bytearray | None]


def request(
    batches: Batches,
    acks: int = -1,
    name: str = "t",
    topic_id: bytes = bytes(16),
    transactional_id: str | None = None,
) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        transactional_id=transactional_id,
        topic_data=[
            TopicProduceData(
                name=name,
                topic_id=topic_id,
                partition_data=[
                    PartitionProduceData(
                        index=index, records=None if data is None else memoryview(bytes(data))
                    )
                    for index, data in batches.items()
                ],
            )
        ],
    )


def answers(response: Any) -> dict[int, PartitionProduceResponse]:
    (topic,) = response.responses
    return {one.index: one for one in topic.partition_responses}


def one(client: FakeClient, batch: bytes | bytearray | None, version: int = 9, **facts: Any) -> Any:
    return answers(client.ask(request({0: batch}, **facts), version))[0]


def code(
    client: FakeClient, batch: bytes | bytearray | None, version: int = 9, **facts: Any
) -> int:
    return int(one(client, batch, version, **facts).error_code)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- what is accepted


@pytest.mark.parametrize("acks", [-1, 1])
def test_the_answer_comes_with_the_commit_and_tells_the_offset(
    kafka: FakeKafka, client: FakeClient, acks: int
) -> None:
    kafka.appended(record_batch(["a", "b"]))
    kafka.commit.hold()
    client.send(request({0: record_batch(["c"])}, acks), 9)
    kafka.run()
    assert client.answers() == []
    kafka.commit.let_go()
    kafka.run()
    answer = answers(client.answers()[0])[0]
    assert (answer.error_code, answer.base_offset) == (0, 2)
    assert (answer.log_append_time_ms, answer.log_start_offset) == (-1, 0)
    assert (answer.record_errors, answer.error_message) == ([], None)


def test_the_time_of_the_log_is_told(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("stamped", message_timestamp_type="LogAppendTime")
    kafka.clock.advance(4)
    answer = one(client, record_batch(["a"]), name="stamped")
    assert answer.log_append_time_ms == TIMESTAMP + 4


def test_topics_are_named_by_id_from_version_13_on(kafka: FakeKafka, client: FakeClient) -> None:
    topic = kafka.existing()
    response = client.ask(request({0: record_batch(["a"])}, name="", topic_id=topic.topic_id), 13)
    assert response.responses[0].topic_id == topic.topic_id
    assert answers(response)[0].error_code == 0
    for unknown in (b"\7" * 16, bytes(16)):
        assert code(client, record_batch(["a"]), 13, name="", topic_id=unknown) == 100


def test_one_partition_may_fail_and_another_not(kafka: FakeKafka, client: FakeClient) -> None:
    batches: Batches = {1: record_batch(["a"]), 7: record_batch(["b"]), 0: None, -1: b""}
    codes = {i: a.error_code for i, a in answers(client.ask(request(batches), 9)).items()}
    assert codes == {1: 0, 7: 3, 0: 87, -1: 3}
    assert kafka.partition(index=1).high_watermark == 1


def test_a_duplicate_gets_the_original_offset_and_no_error(
    kafka: FakeKafka, client: FakeClient
) -> None:
    batch = record_batch(["a"], producer_id=4, epoch=0, sequence=0)
    kafka.appended(record_batch(["other"]))
    for _ in range(2):
        answer = one(client, batch)
        assert (answer.error_code, answer.base_offset) == (0, 1)
    assert kafka.partition().end.next_offset == 2


def test_a_duplicate_of_a_batch_under_way_is_answered_with_it(
    kafka: FakeKafka, client: FakeClient
) -> None:
    other, batch = kafka.client(), record_batch(["a"], producer_id=4, epoch=0, sequence=0)
    kafka.commit.hold()
    client.send(request({0: batch}), 9)
    kafka.run()
    other.send(request({0: batch}), 9)
    kafka.run()
    assert other.answers() == []
    kafka.commit.let_go()
    kafka.run()
    for asked in (client, other):
        answer = answers(asked.answers()[0])[0]
        assert (answer.error_code, answer.base_offset) == (0, 0)


def test_a_duplicate_of_a_durable_batch_needs_no_commit(
    kafka: FakeKafka, client: FakeClient
) -> None:
    batch = record_batch(["a"], producer_id=4, epoch=0, sequence=0)
    one(client, batch)
    commits = kafka.commit.count
    assert one(client, batch).base_offset == 0
    assert kafka.commit.count == commits


# ---- codes


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (None, 87),
        (b"", 87),
        (record_batch(["a"])[:-1], 87),
        (record_batch(["a"]) + record_batch(["b"]), 87),
        (record_batch(["a"], magic=1), 87),
        (record_batch(["a"], base_offset=5), 87),
        (record_batch(["a"], count=2), 87),
        (record_batch(["a"], count=0), 87),
        (record_batch(["a"], control=True), 87),
        (record_batch(["x" * 1_100_000]), 10),
        (record_batch(["a"], transactional=True, producer_id=1, epoch=0, sequence=0), 53),
        (record_batch(["a"], timestamp=TIMESTAMP + HOUR_MS + 1), 32),
    ],
)
def test_each_refusal_has_its_code(
    client: FakeClient, batch: bytes | bytearray | None, expected: int
) -> None:
    answer = one(client, batch)
    assert (answer.error_code, answer.base_offset) == (expected, -1)
    assert (answer.log_append_time_ms, answer.log_start_offset) == (-1, -1)
    assert answer.error_message


def test_a_wrong_checksum_is_code_2(client: FakeClient) -> None:
    batch = record_batch(["a"])
    batch[-1] ^= 1
    assert code(client, batch) == 2


def test_an_unknown_topic_or_partition_is_code_3(client: FakeClient) -> None:
    assert code(client, record_batch(["a"]), name="nope") == 3
    assert answers(client.ask(request({2: record_batch(["a"])}), 9))[2].error_code == 3


@pytest.mark.parametrize("version", range(3, 14))
def test_records_for_an_internal_topic_are_refused(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """Also where an earlier release created it as an ordinary topic."""
    name, topic_id, batch = "__consumer_offsets", b"\7" * 16, record_batch(["a"])
    if version < 13:
        assert code(client, batch, version, name=name) == 17
    kafka.broker.catalog.put(Topic(name, topic_id, (77,), {}))
    assert code(client, batch, version, name=name, topic_id=topic_id) == 17


@pytest.mark.parametrize(
    ("epoch", "sequence", "expected"), [(2, 3, 45), (2, 5, 45), (1, 1, 47), (3, 1, 45)]
)
def test_sequences_and_epochs_that_do_not_fit(
    client: FakeClient, epoch: int, sequence: int, expected: int
) -> None:
    one(client, record_batch(["a"], producer_id=4, epoch=2, sequence=0))
    batch = record_batch(["a"], producer_id=4, epoch=epoch, sequence=sequence)
    assert code(client, batch) == expected


def test_a_duplicate_older_than_the_last_five_is_code_45(client: FakeClient) -> None:
    for sequence in range(6):
        batch = record_batch(["a"], producer_id=4, epoch=0, sequence=sequence)
        assert code(client, batch) == 0
    assert code(client, record_batch(["a"], producer_id=4, epoch=0, sequence=0)) == 45
    assert one(client, record_batch(["a"], producer_id=4, epoch=0, sequence=1)).base_offset == 1


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_other_acks_are_code_21_and_nothing_is_appended(
    kafka: FakeKafka, client: FakeClient, acks: int
) -> None:
    batches: Batches = {0: record_batch(["a"]), 1: record_batch(["a"])}
    found = answers(client.ask(request(batches, acks), 9))
    assert [found[index].error_code for index in (0, 1)] == [21, 21]
    assert kafka.partition().end.next_offset == 0


@pytest.mark.parametrize("transactional_id", ["a", ""])
def test_a_transactional_id_is_code_53(client: FakeClient, transactional_id: str) -> None:
    assert code(client, record_batch(["a"]), transactional_id=transactional_id) == 53


@pytest.mark.parametrize(("version", "expected"), [(3, 76), (6, 76), (7, 0), (13, 0)])
def test_zstd_needs_version_7(
    kafka: FakeKafka, client: FakeClient, version: int, expected: int
) -> None:
    topic = kafka.existing()
    by = {"name": "", "topic_id": topic.topic_id} if version >= 13 else {}
    assert code(client, record_batch(["a"], codec=ZSTD), version, **by) == expected


def test_a_store_that_cannot_be_read_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.log.failing = StorageFailed("cannot read")
    assert code(client, record_batch(["a"])) == 56


def test_a_failed_commit_is_code_56_for_what_it_held(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next("no space left")
    found = answers(client.ask(request({0: record_batch(["a"]), 9: record_batch(["b"])}), 9))
    assert (found[0].error_code, found[0].base_offset, found[0].error_message) == (
        56, -1, "no space left"
    )  # fmt: skip
    assert found[9].error_code == 3
    assert one(client, record_batch(["again"])).base_offset == 0


# ---- record errors


@pytest.mark.parametrize("version", [7, 8, 12])
def test_the_records_that_were_refused_are_named_from_version_8_on(
    client: FakeClient, version: int
) -> None:
    rows = [("k", "v", (), TIMESTAMP + ahead) for ahead in (0, 2 * HOUR_MS, 0, 3 * HOUR_MS)]
    answer = one(client, record_batch(rows, codec=GZIP), version)
    assert answer.error_code == 32
    assert [error.batch_index for error in answer.record_errors] == ([1, 3] if version > 7 else [])
    for error in answer.record_errors:
        assert "out of range" in error.batch_index_error_message


def test_records_without_a_key_are_named(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("compacted", cleanup_policy="compact")
    rows = [(key, "v", (), TIMESTAMP) for key in (None, "k")]
    answer = one(client, record_batch(rows), name="compacted")
    assert answer.error_code == 87
    ((index, message),) = [
        (error.batch_index, error.batch_index_error_message) for error in answer.record_errors
    ]
    words = "Compacted topic cannot accept message without key in topic partition compacted-0"
    assert (index, message) == (0, words)


# ---- acks=0


def test_without_acks_there_is_no_answer_and_the_batch_is_kept(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(request({0: record_batch(["a"]), 1: record_batch(["b"])}, acks=0), 9)
    kafka.run()
    assert (client.frames(), client.closed) == ([], False)
    assert kafka.partition().high_watermark == 1
    assert kafka.partition(index=1).high_watermark == 1


@pytest.mark.parametrize(
    ("batches", "transactional_id", "code"),
    [
        ({0: None}, None, 87),
        ({9: record_batch(["a"])}, None, 3),
        ({0: record_batch(["a"], transactional=True)}, None, 53),
        ({0: record_batch(["a"])}, "a", 53),
    ],
)
def test_without_acks_a_refusal_ends_the_connection(
    kafka: FakeKafka, client: FakeClient, batches: Batches, transactional_id: str | None, code: int
) -> None:
    client.send(request(batches, acks=0, transactional_id=transactional_id), 9)
    kafka.run()
    assert (client.frames(), client.closed) == ([], True)
    (line,) = kafka.events.of("connection_closed")
    assert line["reason"] == "produce_failed"
    assert str(line["detail"]).endswith(f" {code}")


def test_without_acks_what_was_good_of_a_refused_request_is_kept(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(request({0: record_batch(["good"]), 9: record_batch(["bad"])}, acks=0), 9)
    kafka.run()
    assert client.closed
    assert kafka.partition().high_watermark == 1


def test_a_request_without_topics_is_answered_with_none(client: FakeClient) -> None:
    assert client.ask(ProduceRequest(acks=-1, topic_data=[]), 9).responses == []


def test_the_first_use_of_a_partition_waits_for_its_log_and_keeps_the_order(
    kafka: FakeKafka,
) -> None:
    kafka.topic("cold")
    kafka.log.loading = Pending()
    kafka.log.loading_of = kafka.existing("cold").partition_ids[0]
    client, other = kafka.client(), kafka.client()
    requests = [
        request({0: record_batch(["first"])}, name="cold"),
        request({0: record_batch(["second"])}),
        request({0: record_batch(["third"])}, name="cold"),
    ]
    client.transport.send(b"".join(frame(each, 9) for each in requests))
    kafka.run()
    assert client.frames() == [] and client.session.connection.in_flight == 3
    assert answers(other.ask(request({0: record_batch(["mine"])}), 9))[0].error_code == 0
    kafka.log.load()
    kafka.run()
    assert len(client.frames()) == 3
    assert kafka.partition("cold").high_watermark == 2
    assert kafka.shared.memory.used_bytes == 0


def test_a_request_that_was_put_back_ends_with_its_connection(kafka: FakeKafka) -> None:
    kafka.topic("cold")
    kafka.log.loading = Pending()
    kafka.log.loading_of = kafka.existing("cold").partition_ids[0]
    client = kafka.client()
    client.send(request({0: record_batch(["x" * 200_000])}, name="cold"), 9)
    kafka.run()
    assert kafka.shared.memory.used_bytes > 200_000
    client.session.connection_lost(None)
    kafka.log.load()
    kafka.run()
    assert kafka.shared.memory.used_bytes == 0
    assert kafka.partition("cold").high_watermark == 0
