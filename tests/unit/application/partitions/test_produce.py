from __future__ import annotations

import pytest

from domain.errors import (
    BrokerError,
    CorruptMessage,
    InvalidProducerEpoch,
    InvalidRecord,
    InvalidTimestamp,
    MessageTooLarge,
    OutOfOrderSequence,
    TransactionalIdNotAuthorized,
)
from domain.messages.message import Message, encode_messages
from domain.partitions.appended import Appended
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, TIMESTAMP, ZSTD, record_batch
from tests.fakes.broker import FakeBroker, with_topic

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
TWICE_OFFSET_0 = encode_messages([Message(0, TIMESTAMP, b"k", b"v")] * 2, 0, TIMESTAMP)


def refused(
    fake: FakeBroker, batch: bytes | bytearray, error: type[BrokerError], name: str = "t"
) -> None:
    """Refused without a change."""
    before = fake.partition(name).end.next_offset
    outcome = fake.append(batch, name)
    assert type(outcome) is error
    assert not fake.store.staged
    assert fake.partition(name).end.next_offset == before


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic()


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_batches_are_stored_unchanged_except_for_offset_and_epoch(
    fake: FakeBroker, codec: int
) -> None:
    fake.appended(record_batch(["first"]))
    sent = record_batch(["a", None, "c"], codec=codec)
    appended = fake.appended(sent)
    assert (appended.base_offset, appended.last_offset) == (1, 3)
    stored = fake.log.read(0, 1, 4, 1 << 20, True)
    expected = bytearray(sent)
    expected[0:8] = (1).to_bytes(8, "big")
    expected[12:16] = bytes(4)
    assert stored == bytes(expected)


def with_byte(batch: bytearray, index: int, value: int) -> bytearray:
    batch[index] = value
    return batch


@pytest.mark.parametrize(
    ("batch", "error"),
    [
        (b"", InvalidRecord),
        (record_batch(["a"], count=0), InvalidRecord),
        (with_byte(record_batch(["a"]), -2, 0xFF), CorruptMessage),
        (record_batch([("k", "x" * 100, (), TIMESTAMP)]), MessageTooLarge),
        (
            record_batch(["a"], transactional=True, producer_id=4, epoch=0, sequence=0),
            TransactionalIdNotAuthorized,
        ),
        (record_batch(["a"], timestamp=TIMESTAMP + DAY_MS, payload=b"\1\2\3"), InvalidRecord),
        (record_batch(["no key"]), InvalidRecord),
        (record_batch(["a"], payload=b"\1\2\3"), InvalidRecord),
        (record_batch([("k", "v", (), TIMESTAMP)] * 2, payload=TWICE_OFFSET_0), InvalidRecord),
        (with_byte(record_batch(["a"], payload=b"not gzip"), 22, GZIP), CorruptMessage),
    ],
    ids=[
        *("no bytes", "count", "checksum", "too large", "transactional", "future and malformed"),
        *("no key", "malformed", "an offset twice", "codec"),
    ],
)
def test_an_invalid_batch_is_refused_and_not_staged(
    fake: FakeBroker, batch: bytes | bytearray, error: type[BrokerError]
) -> None:
    fake.topic("compacted", cleanup_policy="compact", max_message_bytes="150")
    refused(fake, batch, error, "compacted")


def test_the_clock_is_read_for_each_batch(fake: FakeBroker) -> None:
    late = record_batch(["a"], timestamp=TIMESTAMP + HOUR_MS + 10)
    refused(fake, late, InvalidTimestamp)
    fake.clock.advance(10)
    fake.appended(late)


def test_with_log_append_time_timestamps_are_not_checked(fake: FakeBroker) -> None:
    fake.topic(
        "stamped", message_timestamp_type="LogAppendTime", message_timestamp_before_max_ms="1000"
    )
    fake.appended(record_batch(["a"], timestamp=0), "stamped")


def test_idempotent_producers_continue_after_a_restart(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], producer_id=4, epoch=1, sequence=0))
    fake.appended(record_batch(["b"], producer_id=4, epoch=1, sequence=1))
    again = fake.restarted()
    duplicate = again.append(record_batch(["b"], producer_id=4, epoch=1, sequence=1))
    assert isinstance(duplicate, Appended)
    assert (duplicate.duplicate, duplicate.base_offset) == (True, 1)
    refused(again, record_batch(["c"], producer_id=4, epoch=1, sequence=3), OutOfOrderSequence)
    refused(again, record_batch(["c"], producer_id=4, epoch=0, sequence=2), InvalidProducerEpoch)
    assert again.appended(record_batch(["c"], producer_id=4, epoch=1, sequence=2)).base_offset == 2
