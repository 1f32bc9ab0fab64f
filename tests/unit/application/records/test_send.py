from __future__ import annotations

from application.ports.pending import Pending
from application.records.send import Delivered, Delivery, OutgoingRecord
from domain.errors import (
    InvalidRecord,
    InvalidTopic,
    MessageTooLarge,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.messages.message import Message
from domain.topics.partitioner import partition_for_key
from tests.fakes.batches import TIMESTAMP
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of
from tests.fakes.stored import stored_messages


def send(fake: FakeBroker, *records: OutgoingRecord, topic: str = "t") -> list[Delivery]:
    pending = begun(fake, *records, topic=topic)
    fake.run()
    [deliveries] = results_of(pending)
    return deliveries


def begun(fake: FakeBroker, *records: OutgoingRecord, topic: str = "t") -> Pending[list[Delivery]]:
    service = fake.broker.messages.send
    [[prepared]] = results_of(service.prepare(topic, [records]))
    return service.send(prepared)


def place(delivery: Delivery) -> tuple[int, int, int]:
    assert isinstance(delivery, Delivered), delivery
    return delivery.partition, delivery.offset, delivery.timestamp


def test_records_are_delivered_when_they_are_durable() -> None:
    fake = with_topic()
    pending = begun(fake, OutgoingRecord(b"k", b"v"))
    assert results_of(pending) == []
    fake.run()
    assert [message.value for message in stored_messages(fake)] == [b"v"]


def test_order_partitions_timestamps_nulls_and_headers() -> None:
    fake = with_topic(2)
    deliveries = send(
        fake,
        OutgoingRecord(None, b"a", partition=1),
        OutgoingRecord(b"k", None, ((b"h", None),), partition=0, timestamp=5),
        OutgoingRecord(b"", b"c", partition=1),
    )
    assert [place(one) for one in deliveries] == [(1, 0, TIMESTAMP), (0, 0, 5), (1, 1, TIMESTAMP)]
    assert stored_messages(fake, index=0) == [Message(0, 5, b"k", None, ((b"h", None),))]
    assert [(one.key, one.value) for one in stored_messages(fake, index=1)] == [
        (None, b"a"),
        (b"", b"c"),
    ]


def test_keys_are_partitioned_as_by_java_clients() -> None:
    fake = with_topic(7)
    keys = [b"key-%d" % number for number in range(50)]
    deliveries = send(fake, *(OutgoingRecord(key, b"v") for key in keys))
    assert [place(one)[0] for one in deliveries] == [partition_for_key(key, 7) for key in keys]


def test_records_without_a_key_are_spread_over_all_partitions() -> None:
    fake = with_topic(3)
    used = {place(send(fake, OutgoingRecord(None, b"v"))[0])[0] for _ in range(6)}
    assert used == {0, 1, 2}


def test_an_invalid_record_does_not_affect_others() -> None:
    fake = with_topic(cleanup_policy="compact", max_message_bytes="500")
    deliveries = send(
        fake,
        OutgoingRecord(b"k", b"good"),
        OutgoingRecord(None, b"no key"),
        OutgoingRecord(b"k", b"x" * 1000),
        OutgoingRecord(b"k", b"elsewhere", partition=9),
        OutgoingRecord(b"k", b"also good"),
    )
    refused = [InvalidRecord, MessageTooLarge, UnknownTopicOrPartition]
    assert [type(one) for one in deliveries] == [Delivered, *refused, Delivered]
    assert [message.value for message in stored_messages(fake)] == [b"good", b"also good"]
    assert place(deliveries[-1])[1] == 1


def test_log_append_time_is_returned() -> None:
    fake = with_topic(message_timestamp_type="LogAppendTime")
    [one] = send(fake, OutgoingRecord(b"k", b"v", timestamp=5))
    assert place(one)[2] == TIMESTAMP


def test_a_failed_commit_and_an_unknown_topic_are_errors() -> None:
    fake = with_topic()
    fake.commit.fail_next()
    deliveries = send(fake, OutgoingRecord(b"k", b"v"), OutgoingRecord(b"k", b"v", partition=9))
    assert [type(one) for one in deliveries] == [StorageFailed, UnknownTopicOrPartition]
    [missing] = send(fake, OutgoingRecord(b"k", b"v"), topic="nowhere")
    assert isinstance(missing, UnknownTopicOrPartition)
    [internal] = send(fake, OutgoingRecord(b"k", b"v"), topic="__consumer_offsets")
    assert isinstance(internal, InvalidTopic)
