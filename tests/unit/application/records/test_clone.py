from __future__ import annotations

import pytest

from application.partitions.delete_records import RecordsToDelete
from application.ports.log_store import NotInMemory
from application.records.clone import Cloned, Copying
from domain.errors import (
    BrokerError,
    InvalidRequest,
    StorageFailed,
    TopicAlreadyExists,
    UnknownTopicOrPartition,
)
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.topics.topic import Topic
from infrastructure.codecs.checksum import crc32c
from tests.fakes.batches import GZIP, ZSTD, record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.compaction import compact
from tests.fakes.results import results_of
from tests.fakes.shared_store import SharedStore
from tests.fakes.stored import batches_of, stored_messages
from tests.fakes.transactions import append_in_transaction, end_transaction


def clone(fake: FakeBroker, **configs: str | None) -> Topic | BrokerError:
    pending = fake.broker.messages.clone.create("t", "u", configs)
    fake.run()
    [[created]] = results_of(pending)
    return created


def copying(fake: FakeBroker) -> Copying:
    created = clone(fake)
    assert isinstance(created, Topic)
    return fake.broker.messages.clone.copy("t", created)


def step(fake: FakeBroker, copying: Copying) -> Cloned | BrokerError:
    pending = copying.next()
    fake.run()
    [cloned] = results_of(pending)
    return cloned


def copy(fake: FakeBroker) -> Cloned:
    some = copying(fake)
    while True:
        cloned = step(fake, some)
        assert isinstance(cloned, Cloned)
        if cloned.done:
            return cloned


def batches(fake: FakeBroker, name: str, index: int = 0) -> list[RecordBatch]:
    return batches_of(fake.stored(name, index))


def test_a_clone_has_the_partitions_and_configs_of_the_topic_and_its_overrides() -> None:
    fake = with_topic(3, retention_ms="1000", preallocate="true")
    created = clone(fake, **{"retention.ms": "5", "preallocate": None})
    assert isinstance(created, Topic)
    assert (len(created.partition_ids), created.configs) == (3, {"retention.ms": "5"})
    assert isinstance(clone(fake), TopicAlreadyExists)


def test_batches_are_copied_without_decompression() -> None:
    fake = with_topic(2)
    fake.appended(record_batch(["a", "b"], codec=ZSTD, producer_id=5, epoch=0, sequence=0))
    fake.appended(record_batch(["c"], codec=GZIP))
    fake.appended(record_batch(["d"]), index=1)
    cloned = copy(fake)
    assert (cloned.records, cloned.done) == (4, True)
    first, second = batches(fake, "u")
    assert (first.base_offset, first.codec, first.count) == (0, ZSTD, 2)
    assert (second.base_offset, second.codec) == (2, GZIP)
    for batch in (first, second):
        batch.check_crc(crc32c)
        assert batch.producer_id == -1
    assert [one.base_offset for one in batches(fake, "u", 1)] == [0]
    assert fake.partition("u").high_watermark == 3


def test_log_append_times_are_copied() -> None:
    fake = with_topic(message_timestamp_type="LogAppendTime")
    fake.appended(record_batch(["a"]))
    [before] = batches(fake, "t")
    fake.clock.advance(10_000)
    copy(fake)
    [batch] = batches(fake, "u")
    assert batch.attributes & LOG_APPEND_TIME
    assert batch.max_timestamp == before.max_timestamp


def test_deleted_records_are_not_copied() -> None:
    fake = with_topic()
    fake.appended(record_batch(["a", "b", "c"], codec=ZSTD))
    fake.appended(record_batch(["d"]))
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 2)])
    fake.run()
    assert copy(fake).records == 2
    assert [(one.value, one.offset) for one in stored_messages(fake, "u")] == [(b"c", 0), (b"d", 1)]


def test_a_large_topic_is_copied_in_slices() -> None:
    fake = with_topic()
    for _ in range(8):
        fake.appended(record_batch(["x" * 100_000]))
    some = copying(fake)
    assert some.total == 8
    steps = 0
    while True:
        fake.append(record_batch(["meanwhile"]))
        cloned = step(fake, some)
        assert isinstance(cloned, Cloned)
        steps += 1
        if cloned.done:
            break
    assert (cloned.records, steps) == (8, 4)
    assert fake.partition("u").high_watermark == 8


def test_a_compacted_topic_is_copied_without_its_empty_batches() -> None:
    fake = with_topic()
    fields = {"producer_id": 5, "epoch": 0}
    fake.appended(record_batch([("a", "1", (), 5), ("b", "2", (), 5)], sequence=0, **fields))
    fake.appended(record_batch([("c", "3", (), 5)], sequence=2, **fields))
    fake.appended(record_batch([("a", "4", (), 5), ("c", "5", (), 5)]))
    compact(fake, 5, producers={5: 2})
    assert [batch.count for batch in batches(fake, "t")] == [1, 0, 2]
    assert copy(fake).records == 3
    assert [batch.count for batch in batches(fake, "u")] == [1, 2]
    assert [one.value for one in stored_messages(fake, "u")] == [b"2", b"4", b"5"]


def test_committed_records_are_copied_as_plain_ones() -> None:
    fake = with_topic()
    append_in_transaction(fake, 1)
    append_in_transaction(fake, 2, keys=[None] * 2)
    end_transaction(fake, 1, committed=False)
    end_transaction(fake, 2, committed=True)
    append_in_transaction(fake, 1, sequence=1)
    fake.run()
    assert copy(fake).records == 2
    [batch] = batches(fake, "u")
    assert (batch.producer_id, batch.attributes) == (-1, 0)
    batch.check_crc(crc32c)


def test_an_empty_topic_is_copied_at_once() -> None:
    fake = with_topic(2)
    cloned = step(fake, copying(fake))
    assert isinstance(cloned, Cloned) and (cloned.records, cloned.done) == (0, True)


@pytest.mark.parametrize("error", [StorageFailed, UnknownTopicOrPartition])
def test_an_error_during_the_copy_is_returned(error: type[BrokerError]) -> None:
    fake = FakeBroker()
    topic = fake.topic("t")
    fake.appended(record_batch(["a"]))
    some = copying(fake)
    if error is StorageFailed:
        fake.commit.fail_next()
    else:
        fake.broker.topics.delete_topics.delete([topic])
        fake.run()
    assert isinstance(step(fake, some), error)


def test_a_full_disk_ends_the_copy() -> None:
    fake = with_topic()
    fake.appended(record_batch(["a"]))
    some = copying(fake)
    fake.reserve.is_released = True
    assert isinstance(step(fake, some), StorageFailed)
    assert batches(fake, "u") == []


def test_a_copy_is_created_and_removed_with_the_right() -> None:
    fake = with_topic()
    fake.changes.withhold()
    with pytest.raises(NotInMemory):
        clone(fake)
    fake.changes.give()
    created = clone(fake)
    assert isinstance(created, Topic)
    fake.changes.withhold()
    fake.broker.messages.clone.remove(created)
    fake.run()
    assert (fake.existing("u").topic_id, fake.changes.waiting) == (created.topic_id, 1)
    fake.changes.give()
    fake.run()
    assert fake.broker.catalog.topic("u") is None
    fake.broker.messages.clone.remove(created)
    fake.run()


def test_a_clone_ends_when_another_broker_leads_one_of_its_partitions() -> None:
    shared = SharedStore()
    alone = shared.start(1, default_replication_factor="1")
    shared.topic("t", 1)
    alone.appended(record_batch(["a"]))
    created = alone.topic("c", 1)
    copying = alone.broker.messages.clone.copy("t", created)
    shared.start(2)
    alone.broker.topics.replicas.reassign([(("c", 0), [2])])
    shared.run()
    assert alone.leader(created.partition_ids[0])[0] == 2
    [refused] = results_of(copying.next())
    assert isinstance(refused, InvalidRequest)
    assert "`ottla topic clone`" in refused.message
