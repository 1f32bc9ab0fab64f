"""librdkafka's consumer, with assigned partitions and explicit offsets."""

from __future__ import annotations

import threading

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from tests.e2e.conftest import CreateTopic, unused_topic_name
from tests.e2e.librdkafka import (
    PATIENCE_S,
    assigned_consumer,
    deliver,
    next_error,
    next_message,
    producer,
    read,
    read_values,
)

LONG_AGO_MS = 1_600_000_000_000


def test_a_consumer_starts_at_its_offset(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, *[b"%d" % n for n in range(10)])
    assert [m.value() for m in read(bootstrap, topic, 3, offset=7)] == [b"7", b"8", b"9"]


def test_a_consumer_starts_within_a_batch(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap, linger_ms=100, compression_type="lz4")
    deliver(sender, topic, *[b"%d" % n for n in range(100)])
    assert [m.value() for m in read(bootstrap, topic, 2, offset=55)] == [b"55", b"56"]


def test_a_waiting_consumer_gets_new_messages(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    deliver(sender, topic, b"before")
    waits = {"fetch_wait_max_ms": 60_000, "socket_timeout_ms": 120_000}
    with assigned_consumer(bootstrap, topic, **waits) as consumer:
        assert next_message(consumer).value() == b"before"
        for number in range(3):
            deliver(sender, topic, b"meanwhile %d" % number)
            assert next_message(consumer).value() == b"meanwhile %d" % number


def test_a_consumer_at_the_end_gets_only_later_messages(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    deliver(sender, topic, b"old")
    with assigned_consumer(bootstrap, topic, OFFSET_END, enable_partition_eof=True) as consumer:
        assert next_error(consumer).code() == KafkaError._PARTITION_EOF
        deliver(sender, topic, b"new")
        assert next_message(consumer).value() == b"new"


def test_the_end_of_a_partition_is_reported_each_time(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, b"only")
    with assigned_consumer(bootstrap, topic, enable_partition_eof=True) as consumer:
        assert next_message(consumer).offset() == 0
        assert next_error(consumer).code() == KafkaError._PARTITION_EOF
        deliver(producer(bootstrap), topic, b"another")
        assert next_message(consumer).offset() == 1
        assert next_error(consumer).code() == KafkaError._PARTITION_EOF


def test_an_offset_out_of_range_is_an_error_without_a_reset(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, b"a", b"b")
    with assigned_consumer(bootstrap, topic, 100, auto_offset_reset="error") as consumer:
        assert next_error(consumer).code() == KafkaError._AUTO_OFFSET_RESET


@pytest.mark.parametrize(("reset", "seen"), [("earliest", b"a"), ("latest", b"c")])
def test_an_offset_out_of_range_is_reset(
    bootstrap: str, topic: str, reset: str, seen: bytes
) -> None:
    sender = producer(bootstrap)
    deliver(sender, topic, b"a", b"b")
    settings = {"auto_offset_reset": reset, "enable_partition_eof": True}
    with assigned_consumer(bootstrap, topic, 100, **settings) as consumer:
        if reset == "latest":
            assert next_error(consumer).code() == KafkaError._PARTITION_EOF
            deliver(sender, topic, b"c")
        assert next_message(consumer).value() == seen


@pytest.mark.parametrize("what", ["topic", "partition"])
def test_an_unknown_topic_or_partition_has_no_watermarks(
    bootstrap: str, topic: str, what: str
) -> None:
    unknown = (unused_topic_name(), 0) if what == "topic" else (topic, 9)
    with assigned_consumer(bootstrap, topic) as consumer, pytest.raises(KafkaException) as refused:
        consumer.get_watermark_offsets(TopicPartition(*unknown), PATIENCE_S)
    expected = (KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC)
    assert refused.value.args[0].code() in (*expected, KafkaError.UNKNOWN_TOPIC_OR_PART)


def test_a_consumer_waits_until_its_topic_is_created(bootstrap: str) -> None:
    name = unused_topic_name()
    quick = {"topic_metadata_refresh_interval_ms": 50}
    with assigned_consumer(bootstrap, name, **quick) as consumer:
        assert consumer.list_topics(name, PATIENCE_S).topics[name].error is not None
        deliver(producer(bootstrap), name, b"here now")
        assert next_message(consumer).value() == b"here now"


def test_client_timestamps_are_stored_and_found(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    for number in range(5):
        deliver(sender, topic, b"%d" % number, timestamp=LONG_AGO_MS + 1000 * number)
    stamps = [m.timestamp() for m in read(bootstrap, topic, 5)]
    assert stamps == [(TIMESTAMP_CREATE_TIME, LONG_AGO_MS + 1000 * n) for n in range(5)]
    expected = {0: 0, LONG_AGO_MS: 0, LONG_AGO_MS + 1: 1, LONG_AGO_MS + 3000: 3}
    with assigned_consumer(bootstrap, topic) as consumer:
        for timestamp_ms, offset in expected.items():
            queries = [TopicPartition(topic, 0, timestamp_ms)]
            (found,) = consumer.offsets_for_times(queries, timeout=PATIENCE_S)
            assert (timestamp_ms, found.offset) == (timestamp_ms, offset)
        after = [TopicPartition(topic, 0, LONG_AGO_MS + 9000)]
        (beyond,) = consumer.offsets_for_times(after, timeout=PATIENCE_S)
        assert beyond.offset == OFFSET_END


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_timestamp_is_found_inside_a_compressed_batch(
    bootstrap: str, topic: str, codec: str
) -> None:
    sender = producer(bootstrap, compression_type=codec, linger_ms=200)
    for number in range(100):
        stamp = LONG_AGO_MS + number
        sender.produce(topic, b"a value that compresses " * 4, timestamp=stamp)
    assert sender.flush(PATIENCE_S) == 0
    with assigned_consumer(bootstrap, topic) as consumer:
        queries = [TopicPartition(topic, 0, LONG_AGO_MS + 42)]
        (found,) = consumer.offsets_for_times(queries, timeout=PATIENCE_S)
    assert found.offset == 42


def test_with_log_append_time_the_broker_sets_timestamps(
    bootstrap: str, create_topic: CreateTopic
) -> None:
    stamped = create_topic(message__timestamp__type="LogAppendTime")
    sender = producer(bootstrap, compression_type="zstd", linger_ms=50)
    deliver(sender, stamped, *[b"old news" * 20] * 10, timestamp=LONG_AGO_MS)
    kinds, stamps = zip(*[m.timestamp() for m in read(bootstrap, stamped, 10)], strict=True)
    assert set(kinds) == {TIMESTAMP_LOG_APPEND_TIME}
    assert min(stamps) > LONG_AGO_MS


def test_watermarks_are_beginning_and_end(bootstrap: str, topic: str) -> None:
    with assigned_consumer(bootstrap, topic) as consumer:
        partition = TopicPartition(topic, 0)
        assert consumer.get_watermark_offsets(partition, PATIENCE_S) == (0, 0)
        deliver(producer(bootstrap), topic, b"a", b"b", b"c")
        assert consumer.get_watermark_offsets(partition, PATIENCE_S) == (0, 3)


def test_a_consumer_can_seek_back(bootstrap: str, topic: str) -> None:
    deliver(producer(bootstrap), topic, b"a", b"b", b"c")
    with assigned_consumer(bootstrap, topic, OFFSET_BEGINNING) as consumer:
        assert [next_message(consumer).value() for _ in range(3)] == [b"a", b"b", b"c"]
        consumer.seek(TopicPartition(topic, 0, 1))
        assert next_message(consumer).value() == b"b"


def test_one_consumer_reads_many_partitions(bootstrap: str, create_topic: CreateTopic) -> None:
    wide = create_topic(8)
    sender = producer(bootstrap)
    for partition in range(8):
        deliver(sender, wide, *[b"%d" % partition] * 20, partition=partition)
    with assigned_consumer(bootstrap, wide) as consumer:
        consumer.assign([TopicPartition(wide, partition, 0) for partition in range(8)])
        messages = [next_message(consumer) for _ in range(160)]
    for message in messages:
        assert message.value() == b"%d" % (message.partition() or 0)
    assert len({(m.partition(), m.offset()) for m in messages}) == 160


def test_a_message_above_the_fetch_limits_is_returned(bootstrap: str, topic: str) -> None:
    big = bytes(500_000)
    deliver(producer(bootstrap), topic, big, b"small")
    limits = {"fetch_message_max_bytes": 1_000, "fetch_max_bytes": 1_000, "message_max_bytes": 1000}
    with assigned_consumer(bootstrap, topic, **limits) as consumer:
        assert next_message(consumer).value() == big
        assert next_message(consumer).value() == b"small"


def test_several_consumers_wait_for_the_same_message(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    deliver(sender, topic, b"first")
    all_read_the_first = threading.Barrier(5)
    seen: list[bytes | None] = []

    def wait_for_the_second() -> None:
        with assigned_consumer(bootstrap, topic, fetch_wait_max_ms=60_000) as consumer:
            next_message(consumer)
            all_read_the_first.wait(PATIENCE_S)
            seen.append(next_message(consumer).value())

    waiting = [threading.Thread(target=wait_for_the_second) for _ in range(4)]
    for thread in waiting:
        thread.start()
    all_read_the_first.wait(PATIENCE_S)
    deliver(sender, topic, b"second")
    for thread in waiting:
        thread.join(PATIENCE_S)
    assert seen == [b"second"] * 4


def test_concurrent_reads_lose_and_repeat_no_message(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap, batch_num_messages=10, linger_ms=0)
    for number in range(2_000):
        sender.produce(topic, b"%d" % number)
    assert read_values(bootstrap, topic, 2_000) == [b"%d" % n for n in range(2_000)]
    assert sender.flush(PATIENCE_S) == 0
