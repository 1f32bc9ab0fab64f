"""librdkafka's producer, through confluent-kafka."""

from __future__ import annotations

import os

import pytest
from confluent_kafka import KafkaError, KafkaException

from tests.e2e.conftest import ONE_BROKER, CreateTopic, unused_topic_name
from tests.e2e.librdkafka import deliver, producer, read, read_values

CODECS = ("gzip", "snappy", "lz4", "zstd")


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_a_message_arrives_with_each_acks(bootstrap: str, topic: str, acks: int | str) -> None:
    reports = deliver(producer(bootstrap, acks=acks), topic, b"hello")
    assert not reports.errors
    assert read_values(bootstrap, topic, 1) == [b"hello"]


@pytest.mark.parametrize("codec", CODECS)
def test_a_compressed_batch_is_returned_unchanged(bootstrap: str, topic: str, codec: str) -> None:
    values: list[bytes | None] = [b"%d " % n * 50 for n in range(200)]
    sender = producer(bootstrap, compression_type=codec, linger_ms=50)
    assert not deliver(sender, topic, *values).errors
    assert read_values(bootstrap, topic, len(values)) == values


def test_keys_values_and_headers_can_be_null_or_binary(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap)
    every_byte = bytes(range(256))
    headers = [("text", b"plain"), ("binary", every_byte), ("none", None), ("text", b"again")]
    deliver(sender, topic, None, key=None)
    deliver(sender, topic, b"", key=b"")
    deliver(sender, topic, every_byte, key=every_byte[::-1], headers=headers)
    empty, hollow, full = read(bootstrap, topic, 3)
    assert (empty.key(), empty.value(), empty.headers()) == (None, None, None)
    assert (hollow.key(), hollow.value()) == (b"", b"")
    assert (full.key(), full.value(), full.headers()) == (every_byte[::-1], every_byte, headers)


def test_a_message_of_almost_one_megabyte_is_accepted(bootstrap: str, topic: str) -> None:
    value = os.urandom(1_000_000 - 200)
    reports = deliver(producer(bootstrap), topic, value)
    assert not reports.errors
    assert read_values(bootstrap, topic, 1) == [value]


def test_the_client_refuses_a_message_above_its_own_limit(bootstrap: str, topic: str) -> None:
    with pytest.raises(KafkaException) as refused:
        producer(bootstrap, message_max_bytes=2_000).produce(topic, bytes(3_000))
    assert refused.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_the_broker_refuses_a_message_above_the_limit_of_the_topic(
    bootstrap: str, create_topic: CreateTopic
) -> None:
    small = create_topic(max__message__bytes="2000")
    sender = producer(bootstrap)
    (error,) = deliver(sender, small, bytes(3_000)).errors
    assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert not deliver(sender, small, b"still alive").errors
    assert read_values(bootstrap, small, 1) == [b"still alive"]


def test_the_broker_refuses_a_message_above_its_default_limit(bootstrap: str, topic: str) -> None:
    sender = producer(bootstrap, message_max_bytes=5_000_000)
    (error,) = deliver(sender, topic, os.urandom(2_000_000)).errors
    assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_an_unknown_topic_is_created_on_first_use(bootstrap: str) -> None:
    name = unused_topic_name()
    assert not deliver(producer(bootstrap), name, b"first").errors
    assert read_values(bootstrap, name, 1) == [b"first"]


def test_an_unknown_topic_is_an_error_without_auto_creation(bootstrap: str) -> None:
    sender = producer(
        bootstrap, allow_auto_create_topics=False, topic_metadata_propagation_max_ms=0
    )
    (error,) = deliver(sender, unused_topic_name(), b"lost").errors
    assert error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)


def test_an_unknown_partition_is_an_error(bootstrap: str, topic: str) -> None:
    (error,) = deliver(producer(bootstrap), topic, b"lost", partition=7).errors
    assert error.code() == KafkaError._UNKNOWN_PARTITION


@pytest.mark.parametrize("idempotent", [False, True])
def test_ten_thousand_small_messages_keep_their_order(
    bootstrap: str, topic: str, idempotent: bool
) -> None:
    values: list[bytes | None] = [b"%d" % n for n in range(10_000)]
    sender = producer(
        bootstrap, enable_idempotence=idempotent, batch_num_messages=20, linger_ms=0, acks="all"
    )
    reports = deliver(sender, topic, *values)
    assert not reports.errors
    assert [m.offset() for m in reports.messages] == list(range(10_000))
    assert read_values(bootstrap, topic, 10_000) == values


def test_an_idempotent_producer_writes_to_many_partitions(
    bootstrap: str, create_topic: CreateTopic
) -> None:
    wide = create_topic(4)
    sender = producer(bootstrap, enable_idempotence=True, batch_num_messages=10)
    for partition in range(4):
        sent = [b"%d-%d" % (partition, n) for n in range(100)]
        assert not deliver(sender, wide, *sent, partition=partition).errors
    for partition in range(4):
        found = read_values(bootstrap, wide, 100, partition)
        assert found == [b"%d-%d" % (partition, n) for n in range(100)]


def test_messages_of_one_key_have_one_partition(bootstrap: str, create_topic: CreateTopic) -> None:
    wide = create_topic(6)
    sender = producer(bootstrap, partitioner="murmur2_random")
    partitions = {
        report.partition()
        for _ in range(3)
        for report in deliver(sender, wide, b"x", key=b"one key").messages
    }
    assert len(partitions) == 1


def test_a_timestamp_too_far_ahead_is_refused(bootstrap: str, topic: str) -> None:
    (error,) = deliver(producer(bootstrap), topic, b"late", timestamp=4_000_000_000_000).errors
    assert error.code() == KafkaError.INVALID_TIMESTAMP


def test_a_compacted_topic_refuses_a_message_without_a_key(
    bootstrap: str, create_topic: CreateTopic
) -> None:
    compacted = create_topic(cleanup__policy="compact")
    sender = producer(bootstrap)
    (error,) = deliver(sender, compacted, b"no key").errors
    assert error.code() == KafkaError.INVALID_RECORD
    assert not deliver(sender, compacted, b"value", key=b"key").errors


# Over several brokers it is one of the stories of cluster/test_transactions.py.
@pytest.mark.parametrize("broker", ONE_BROKER, indirect=True)
def test_a_transaction_of_a_new_producer_fences_the_one_before(bootstrap: str, topic: str) -> None:
    first, second = (producer(bootstrap, transactional_id=f"tx-{topic}") for _ in range(2))
    for sender, last in ((first, "commit_transaction"), (first, "abort_transaction")):
        if last == "commit_transaction":
            sender.init_transactions(30)
        sender.begin_transaction()
        assert not deliver(sender, topic, b"value").errors
        getattr(sender, last)(30)
    second.init_transactions(30)
    first.begin_transaction()
    first.produce(topic, b"fenced")
    with pytest.raises(KafkaException) as fenced:
        first.commit_transaction(30)
    assert fenced.value.args[0].fatal()
    assert read_values(bootstrap, topic, 1) == [b"value"]
