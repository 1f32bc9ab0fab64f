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
    UnsupportedCompressionType,
)
from domain.messages.batch import RecordBatch
from domain.partitions.partition import INDEX_INTERVAL_BYTES, Appended
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, TIMESTAMP, ZSTD, record_batch
from tests.fakes.broker import FakeBroker

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def refused(
    fake: FakeBroker, batch: bytes | bytearray, error: type[BrokerError], name: str = "t"
) -> BrokerError:
    """Refused, and nothing was staged."""
    before = fake.partition(name).end.next_offset
    outcome = fake.append(batch, name)
    assert type(outcome) is error
    assert not fake.store.staged
    assert fake.partition(name).end.next_offset == before
    return outcome


def faults(error: BrokerError) -> list[tuple[int, str]]:
    assert isinstance(error, (InvalidRecord, InvalidTimestamp))
    return [(fault.index, fault.message) for fault in error.faults]


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t")
    return fake


# ---- what is accepted


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_records_are_stored_as_they_came_but_for_their_place(fake: FakeBroker, codec: int) -> None:
    fake.appended(record_batch(["first"]))
    sent = record_batch(["a", None, "c"], codec=codec)
    appended = fake.appended(sent)
    assert (appended.base_offset, appended.last_offset) == (1, 3)
    stored = fake.log.read(0, 1, 4, 1 << 20, True)
    expected = bytearray(sent)
    expected[0:8] = (1).to_bytes(8, "big")
    expected[12:16] = bytes(4)
    assert stored == bytes(expected)


def test_a_batch_is_not_there_before_its_commit(fake: FakeBroker) -> None:
    assert isinstance(fake.append(record_batch(["a"])), Appended)
    assert fake.stored() == b""
    fake.run()
    assert fake.stored() != b""


def test_a_duplicate_is_not_stored_again(fake: FakeBroker) -> None:
    batch = record_batch(["a"], producer_id=4, epoch=0, sequence=0)
    fake.appended(batch)
    stored = fake.stored()
    duplicate = fake.appended(batch)
    assert (duplicate.duplicate, duplicate.base_offset) == (True, 0)
    assert fake.stored() == stored


def test_the_largest_timestamp_of_many_bytes_is_indexed(fake: FakeBroker) -> None:
    fake.appended(record_batch(["x" * INDEX_INTERVAL_BYTES], timestamp=TIMESTAMP))
    fake.appended(record_batch(["x" * INDEX_INTERVAL_BYTES], timestamp=TIMESTAMP + 1))
    assert fake.log.at_timestamp(0, TIMESTAMP) == 0
    assert fake.log.at_timestamp(0, TIMESTAMP + 1) == 1
    assert fake.log.at_timestamp(0, TIMESTAMP + 2) == 2


# ---- what is refused


@pytest.mark.parametrize(
    "batch",
    [
        b"",
        record_batch(["a"])[:-1],
        record_batch(["a"]) + record_batch(["b"]),
        record_batch(["a"], magic=1),
        record_batch(["a"], base_offset=1),
        record_batch(["a"], count=0),
        record_batch(["a", "b"], count=1),
        record_batch([]),
        record_batch(["a"], control=True),
        record_batch(["a"], codec=7),
        record_batch(["a"], producer_id=4, epoch=0),
    ],
    ids=[
        *("nothing", "truncated", "two batches", "magic 1", "base offset", "no count"),
        *("wrong count", "no records", "control", "codec 7", "no sequence"),
    ],
)
def test_a_batch_of_the_wrong_shape_is_an_invalid_record(
    fake: FakeBroker, batch: bytes | bytearray
) -> None:
    assert faults(refused(fake, batch, InvalidRecord)) == []


def test_null_records_are_an_invalid_record(fake: FakeBroker) -> None:
    outcome = fake.broker.messages.produce.append(fake.partition(), None, True)
    assert type(outcome) is InvalidRecord


def test_a_wrong_checksum_is_a_corrupt_message(fake: FakeBroker) -> None:
    batch = record_batch(["a"])
    batch[-2] ^= 0xFF
    refused(fake, batch, CorruptMessage)


def test_a_batch_above_the_topics_limit_is_too_large(fake: FakeBroker) -> None:
    batch = record_batch(["x" * 1000])
    fake.topic("small", max_message_bytes=str(len(batch) - 1))
    refused(fake, batch, MessageTooLarge, "small")
    fake.appended(batch, "t")


def test_a_transactional_batch_is_not_authorized(fake: FakeBroker) -> None:
    batch = record_batch(["a"], transactional=True, producer_id=4, epoch=0, sequence=0)
    refused(fake, batch, TransactionalIdNotAuthorized)


def test_zstd_needs_a_version_that_knows_it(fake: FakeBroker) -> None:
    def append(codec: int, zstd_allowed: bool) -> object:
        records = memoryview(record_batch(["a"], codec=codec))
        return type(fake.broker.messages.produce.append(fake.partition(), records, zstd_allowed))

    assert append(ZSTD, False) is UnsupportedCompressionType
    assert append(ZSTD, True) is Appended
    assert append(LZ4, False) is Appended


def test_gaps_and_stale_epochs_are_refused(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], producer_id=4, epoch=2, sequence=0))
    refused(fake, record_batch(["a"], producer_id=4, epoch=2, sequence=2), OutOfOrderSequence)
    refused(fake, record_batch(["a"], producer_id=4, epoch=1, sequence=1), InvalidProducerEpoch)
    refused(fake, record_batch(["a"], producer_id=4, epoch=3, sequence=1), OutOfOrderSequence)


# ---- timestamps


def test_a_record_too_far_ahead_is_named(fake: FakeBroker) -> None:
    rows = [("k", value, (), TIMESTAMP + ahead) for value, ahead in (("a", 0), ("b", HOUR_MS + 1))]
    error = refused(fake, record_batch(rows), InvalidTimestamp)
    ((index, message),) = faults(error)
    assert index == 1
    assert f"Timestamp {TIMESTAMP + HOUR_MS + 1} of message with offset 1 is out of" in message


def test_the_records_of_a_compressed_batch_are_named_as_well(fake: FakeBroker) -> None:
    rows = [("k", "v", (), TIMESTAMP + ahead) for ahead in (2 * HOUR_MS, 0, 2 * HOUR_MS)]
    error = refused(fake, record_batch(rows, codec=GZIP), InvalidTimestamp)
    assert [index for index, _ in faults(error)] == [0, 2]


def test_a_batch_that_is_too_far_ahead_and_cannot_be_opened_is_corrupt(fake: FakeBroker) -> None:
    batch = record_batch(["a"], timestamp=TIMESTAMP + DAY_MS, payload=b"\1\2\3")
    refused(fake, batch, InvalidRecord)


def test_how_far_ahead_is_the_topics_choice(fake: FakeBroker) -> None:
    fake.topic("strict", message_timestamp_after_max_ms="1000")
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP + 1000), "strict")
    refused(fake, record_batch(["a"], timestamp=TIMESTAMP + 1001), InvalidTimestamp, "strict")


def test_by_default_no_record_is_too_old(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], timestamp=0))


def test_a_topic_may_refuse_old_records(fake: FakeBroker) -> None:
    fake.topic("fresh", message_timestamp_before_max_ms="1000")
    rows = [("k", "v", (), TIMESTAMP - behind) for behind in (1000, 1001, 0)]
    error = refused(fake, record_batch(rows, codec=ZSTD), InvalidTimestamp, "fresh")
    assert [index for index, _ in faults(error)] == [1]
    fake.appended(record_batch(["a"], timestamp=TIMESTAMP - 1000), "fresh")


def test_a_record_without_a_timestamp_is_of_every_age(fake: FakeBroker) -> None:
    fake.topic("fresh", message_timestamp_before_max_ms="1000")
    fake.appended(record_batch(["a"], timestamp=-1), "fresh")


def test_the_clock_of_the_broker_is_read_for_each_batch(fake: FakeBroker) -> None:
    late = record_batch(["a"], timestamp=TIMESTAMP + HOUR_MS + 10)
    refused(fake, late, InvalidTimestamp)
    fake.clock.advance(10)
    fake.appended(late)


# ---- log append time


def test_the_time_of_the_log_is_told_and_stored(fake: FakeBroker) -> None:
    fake.topic("stamped", message_timestamp_type="LogAppendTime")
    fake.clock.advance(5)
    appended = fake.appended(record_batch(["a"], timestamp=7), "stamped")
    assert appended.log_append_time == TIMESTAMP + 5
    batch = RecordBatch(memoryview(fake.stored("stamped")))
    assert batch.max_timestamp == TIMESTAMP + 5
    fake.clock.set_back(100)
    assert fake.appended(record_batch(["b"]), "stamped").log_append_time == TIMESTAMP + 5


def test_with_log_append_time_the_age_of_records_does_not_matter(fake: FakeBroker) -> None:
    fake.topic(
        "stamped",
        message_timestamp_type="LogAppendTime",
        message_timestamp_before_max_ms="1000",
        message_timestamp_after_max_ms="1000",
    )
    for timestamp in (0, TIMESTAMP + DAY_MS):
        fake.appended(record_batch(["a"], timestamp=timestamp), "stamped")


# ---- compacted topics


def test_a_compacted_topic_names_the_records_without_a_key(fake: FakeBroker) -> None:
    fake.topic("compacted", cleanup_policy="compact")
    rows = [(key, "v", (), TIMESTAMP) for key in ("k", None, "", None)]
    for codec in (NONE, LZ4):
        error = refused(fake, record_batch(rows, codec=codec), InvalidRecord, "compacted")
        words = "Compacted topic cannot accept message without key in topic partition compacted-0"
        assert faults(error) == [(1, words), (3, words)]
        assert error.message == (
            "One or more records have been rejected due to 2 record errors in total, and only "
            "showing the first three errors at most: "
            f"[RecordError(batchIndex=1, message='{words}'), "
            f"RecordError(batchIndex=3, message='{words}')]"
        )
    fake.appended(record_batch([("k", None, (), TIMESTAMP)]), "compacted")


def test_what_cannot_be_opened_is_refused_where_records_are_looked_at(fake: FakeBroker) -> None:
    fake.topic("compacted", cleanup_policy="compact")
    refused(fake, record_batch(["a"], payload=b"\1\2\3"), InvalidRecord, "compacted")
    broken = record_batch(["a"], payload=b"not gzip")
    broken[22] = GZIP
    fresh = RecordBatch(memoryview(broken))
    assert fresh.codec == GZIP
    refused(fake, broken, CorruptMessage, "compacted")


# ---- restarts


def test_producers_are_known_again_after_a_restart(fake: FakeBroker) -> None:
    fake.appended(record_batch(["a"], producer_id=4, epoch=1, sequence=0))
    fake.appended(record_batch(["b"], producer_id=4, epoch=1, sequence=1))
    again = fake.restarted()
    duplicate = again.append(record_batch(["b"], producer_id=4, epoch=1, sequence=1))
    assert isinstance(duplicate, Appended)
    assert (duplicate.duplicate, duplicate.base_offset) == (True, 1)
    refused(again, record_batch(["c"], producer_id=4, epoch=1, sequence=3), OutOfOrderSequence)
    refused(again, record_batch(["c"], producer_id=4, epoch=0, sequence=2), InvalidProducerEpoch)
    assert again.appended(record_batch(["c"], producer_id=4, epoch=1, sequence=2)).base_offset == 2
