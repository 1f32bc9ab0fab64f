"""Topics whose `compression.type` is another than that of the batch."""

from __future__ import annotations

import pytest
from crc32c import crc32c

from application.partitions.opened_batch import MAX_OPENED_RECORDS
from application.partitions.produce import MAX_OPENING_NS_OF_A_COMMIT
from domain.errors import (
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    MessageTooLarge,
    RequestTimedOut,
)
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.partitions.appended import Appended
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, TIMESTAMP, ZSTD, Record, record_batch
from tests.fakes.broker import FakeBroker, with_topic

TYPES = {"uncompressed": NONE, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
ROWS: list[Record] = [("k", "a value " * 20, [("h", None)], TIMESTAMP + 7), None, "c"]


def opened(batch: bytes) -> bytes:
    header = RecordBatch(memoryview(batch))
    header.check_crc(crc32c)
    return BatchCompression().decompress(header.codec, header.records, 1 << 20)


@pytest.mark.parametrize("sent", TYPES.values())
@pytest.mark.parametrize("name", TYPES)
def test_a_batch_is_stored_in_the_compression_of_its_topic(name: str, sent: int) -> None:
    fake = with_topic(compression_type=name)
    fake.appended(record_batch(["before"]))
    batch = record_batch(ROWS, codec=sent, producer_id=4, epoch=1, sequence=0)
    appended = fake.appended(batch)
    assert (appended.base_offset, appended.last_offset) == (1, 3)
    stored = fake.log.read(0, 1, 4, 1 << 20, True)
    assert opened(stored) == opened(batch)
    header, before = RecordBatch(memoryview(stored)), RecordBatch(memoryview(batch))
    assert (header.codec, header.base_offset, header.leader_epoch) == (TYPES[name], 1, 0)
    for field in ("base_timestamp", "max_timestamp", "producer_id", "base_sequence", "count"):
        assert getattr(header, field) == getattr(before, field)


@pytest.mark.parametrize("level", [1, 9])
def test_the_level_is_that_of_the_topic(level: int) -> None:
    fake = with_topic(compression_type="gzip", compression_gzip_level=str(level))
    batch = record_batch([b"%d" % (n * n) for n in range(500)])
    fake.appended(batch)
    records = RecordBatch(memoryview(fake.stored())).records
    assert bytes(records) == BatchCompression().compress(GZIP, opened(batch), level)


def test_a_batch_in_the_compression_of_its_topic_is_stored_unchanged() -> None:
    fake = with_topic(compression_type="lz4", compression_lz4_level="12")
    sent = record_batch(ROWS, codec=LZ4)
    fake.appended(sent)
    assert fake.stored()[16:] == sent[16:]


def test_a_retry_is_recognised_by_its_sequence() -> None:
    fake = with_topic(compression_type="zstd")
    batch = record_batch(ROWS, codec=GZIP, producer_id=4, epoch=1, sequence=0)
    fake.appended(batch)
    stored = fake.stored()
    again = fake.restarted()
    assert again.appended(batch).duplicate
    assert again.stored() == stored


def test_log_append_time_is_in_the_checksum() -> None:
    fake = with_topic(compression_type="snappy", message_timestamp_type="LogAppendTime")
    fake.appended(record_batch(ROWS))
    header = RecordBatch(memoryview(fake.stored()))
    header.check_crc(crc32c)
    assert header.attributes == SNAPPY | LOG_APPEND_TIME
    assert header.max_timestamp == fake.clock.now_ms()


@pytest.mark.parametrize("codec", [GZIP, NONE])
def test_a_batch_must_fit_before_and_after(codec: int) -> None:
    name = "uncompressed" if codec == GZIP else "gzip"
    fake = with_topic(compression_type=name, max_message_bytes="1000")
    refused = fake.append(record_batch(["x" * 5000], codec=codec))
    assert isinstance(refused, MessageTooLarge)
    assert ("5" in refused.message.split("is ")[1]) and not fake.store.staged


def test_a_batch_may_have_more_records_than_the_broker_decodes() -> None:
    fake = with_topic(compression_type="uncompressed", max_message_bytes="2000000")
    count = MAX_OPENED_RECORDS + 1
    # Ten bytes each: length, attributes, timestamp, offset, key, value of three bytes, headers.
    batch = record_batch(
        ["x"], payload=b"\x12\0\0\0\1\6abc\0" * count, codec=ZSTD, count=count,
        last_offset_delta=count - 1,
    )  # fmt: skip
    assert fake.appended(batch).last_offset == count - 1


@pytest.mark.parametrize(
    "batch, first_result",
    [
        (record_batch(["a"], codec=ZSTD), Appended),
        (record_batch(["a"], payload=b"\7" * 9, codec=ZSTD), InvalidRecord),
        (record_batch(["a"], codec=GZIP, timestamp=2 * TIMESTAMP), InvalidTimestamp),
    ],
    ids=["compressed", "garbage", "a timestamp in the future"],
)
def test_the_time_to_open_batches_in_a_commit_is_limited(
    batch: bytes, first_result: type[object]
) -> None:
    """One batch passes, however long it takes; the clients of further batches retry."""
    fake = with_topic(compression_type="gzip")
    fake.clock.look_ns = MAX_OPENING_NS_OF_A_COMMIT
    for _ in range(2):
        assert type(fake.append(batch)) is first_result
        assert isinstance(fake.append(record_batch(["b"])), RequestTimedOut)
        fake.run()


def test_several_batches_share_the_time_of_a_commit() -> None:
    fake = with_topic(compression_type="gzip")
    fake.clock.look_ns = MAX_OPENING_NS_OF_A_COMMIT // 3 + 1
    results = [type(fake.append(record_batch(["a"]))) for _ in range(4)]
    assert results == [Appended, Appended, Appended, RequestTimedOut]


def test_without_time_left_an_invalid_timestamp_is_not_searched_for() -> None:
    fake = with_topic(compression_type="gzip")
    fake.clock.look_ns = MAX_OPENING_NS_OF_A_COMMIT
    future = record_batch(["a"], codec=GZIP, timestamp=2 * TIMESTAMP)
    first, second = fake.append(future), fake.append(future)
    assert isinstance(first, InvalidTimestamp) and len(first.faults) == 1
    assert isinstance(second, InvalidTimestamp) and not second.faults


@pytest.mark.parametrize(
    "batch, error",
    [
        (record_batch(["a"], payload=b"\7" * 9, codec=GZIP), InvalidRecord),
        (record_batch(["a", "b"], codec=GZIP, count=3, last_offset_delta=2), InvalidRecord),
        (record_batch(["a"], codec=5), InvalidRecord),
        (record_batch(["a"], codec=ZSTD)[:-1] + b"\xff", CorruptMessage),
    ],
    ids=["garbage", "a record is missing", "no codec", "checksum"],
)
def test_a_broken_batch_is_refused(batch: bytearray, error: type[Exception]) -> None:
    fake = with_topic(compression_type="lz4")
    assert type(fake.append(batch)) is error
    assert not fake.store.staged


def test_a_batch_that_is_not_what_its_codec_says_is_refused() -> None:
    fake: FakeBroker = with_topic(compression_type="uncompressed")
    batch = record_batch(["a"], codec=GZIP)
    batch[22] = ZSTD
    batch[17:21] = crc32c(bytes(batch[21:])).to_bytes(4, "big")
    assert isinstance(fake.append(batch), CorruptMessage)
