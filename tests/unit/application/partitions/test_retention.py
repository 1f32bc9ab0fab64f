from __future__ import annotations

import pytest

from application.background.runner import RETRY_MS
from application.partitions.delete_records import RecordsToDelete
from application.partitions.retention import (
    HEADERS_PER_STEP,
    MOST_LOOKS,
    PARTITIONS_PER_COMMIT,
    Outlook,
)
from application.ports.pending import Pending
from domain.cluster.nodes import Leader
from domain.errors import StorageFailed
from domain.partitions.retention import Reason
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, FlakyLogStore
from tests.fakes.compaction import compact

CHECK_MS = 300
SIZE = len(record_batch(["a"]))


def retaining(partitions: int = 1, **configs: str) -> FakeBroker:
    fake = FakeBroker(log_retention_check_interval_ms=str(CHECK_MS))
    fake.topic("t", partitions, **configs)
    fake.broker.start_upkeep()
    return fake


def append(fake: FakeBroker, count: int = 1, name: str = "t", index: int = 0) -> None:
    for _ in range(count):
        fake.append(record_batch(["a"], timestamp=fake.clock.now_ms()), name, index)
    fake.run()


def starts(fake: FakeBroker, name: str = "t") -> list[int]:
    count = len(fake.existing(name).partition_ids)
    return [fake.partition(name, index).log_start_offset for index in range(count)]


def expired(fake: FakeBroker) -> list[tuple[object, ...]]:
    return [tuple(fields.values()) for fields in fake.events.of("records_expired")]


def test_old_records_are_removed_by_the_next_check() -> None:
    fake = retaining(retention_ms="1000")
    append(fake, 3)
    fake.scheduler.advance(1000)
    append(fake, 2)
    assert starts(fake) == [0]
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]
    fake.scheduler.advance(1000 + 2 * CHECK_MS)
    assert starts(fake) == [5]
    fake.scheduler.advance(100)
    assert (fake.stored(), fake.partition().durable.size_bytes) == (b"", 0)
    assert expired(fake) == [("t", 1, "time", 3), ("t", 1, "time", 2)]
    assert fake.broker.retention.expired_records == {Reason.TIME: 5}
    append(fake)
    assert fake.partition().high_watermark == 6


def test_the_timestamp_index_skips_expired_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domain.partitions.partition.INDEX_INTERVAL_BYTES", 10 * SIZE)
    fake = retaining(retention_ms="1000")
    append(fake, 3000)
    fake.scheduler.advance(500)
    append(fake, 10)
    fake.scheduler.advance(500)
    read, limits = FlakyLogStore.headers, []

    def counted(log: FlakyLogStore, partition_id: int, offset: int, limit: int) -> list[bytes]:
        limits.append(limit)
        return read(log, partition_id, offset, limit)

    monkeypatch.setattr(FlakyLogStore, "headers", counted)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3000]
    assert limits == [1, HEADERS_PER_STEP]


def test_the_size_of_a_partition_stays_at_retention_bytes_or_above() -> None:
    fake = retaining(retention_bytes=str(2 * SIZE + 1), retention_ms="-1")
    append(fake, 2)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [0]
    append(fake, 500)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [499]
    fake.scheduler.advance(CHECK_MS)
    assert fake.partition().durable.size_bytes == 3 * SIZE
    assert expired(fake) == [("t", 1, "size", 499)]


@pytest.mark.parametrize(
    "configs",
    [
        {"retention_ms": "-1"},
        {"retention_ms": "1", "cleanup_policy": "compact"},
        {"retention_ms": "1", "retention_bytes": "0", "cleanup_policy": ""},
    ],
)
def test_without_a_limit_or_the_policy_delete_nothing_is_removed(configs: dict[str, str]) -> None:
    fake = retaining(**configs)
    fake.append(record_batch([(b"k", b"v", [], 1)]))
    fake.run()
    fake.scheduler.advance(3 * CHECK_MS)
    assert (starts(fake), fake.partition().high_watermark) == ([0], 1)


def test_both_policies_together_remove_old_records() -> None:
    fake = retaining(retention_ms="1000", cleanup_policy="compact,delete")
    fake.append(record_batch([(b"k", b"v", [], fake.clock.now_ms())]))
    fake.scheduler.advance(1000 + 2 * CHECK_MS)
    assert starts(fake) == [1]


def test_an_altered_config_takes_effect_with_the_next_check() -> None:
    fake = retaining()
    append(fake, 3)
    fake.scheduler.advance(2 * CHECK_MS)
    assert starts(fake) == [0]
    alter(fake, "retention.ms", "500")
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]


def alter(fake: FakeBroker, name: str, value: str) -> None:
    topic = fake.existing()
    configs = {**topic.configs, name: value}
    fake.broker.catalog.put(topic.configured(configs))


def test_log_starts_of_many_partitions_move_in_one_commit() -> None:
    fake = retaining(PARTITIONS_PER_COMMIT + 1, retention_ms="1")
    for index in range(PARTITIONS_PER_COMMIT + 1):
        append(fake, index=index)
    fake.broker.trimming.begin = lambda partitions: None  # type: ignore[method-assign]
    before = fake.commit.count
    fake.scheduler.advance(2 * CHECK_MS)
    assert set(starts(fake)) == {1}
    assert fake.commit.count == before + 2
    assert expired(fake) == [("t", 101, "time", 101)]


def test_a_partition_that_is_not_loaded_stays_so_while_its_oldest_batch_stays() -> None:
    fake = retaining(retention_ms="1000")
    append(fake, 3)
    again = fake.restarted()
    again.broker.start_upkeep()
    again.scheduler.advance(2 * CHECK_MS)
    assert again.broker.catalog.loaded() == []
    again.clock.advance(1000)
    again.scheduler.advance(CHECK_MS)
    assert starts(again) == [3]


def test_a_header_is_read_once_until_its_batch_expires() -> None:
    fake = retaining(retention_ms="5000")
    append(fake, 3)
    fake.scheduler.advance(2 * CHECK_MS)
    fake.log.failing = StorageFailed("not read")
    fake.scheduler.advance(3 * CHECK_MS)
    fake.log.failing = None
    assert fake.events.of("partition_unreadable") == []
    fake.clock.advance(5000)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]


def test_deleted_records_make_the_next_batch_the_oldest() -> None:
    fake = retaining(retention_ms="1000")
    fake.append(record_batch(["late"], timestamp=fake.clock.now_ms() + 3_000_000))
    append(fake, 2)
    fake.scheduler.advance(1000 + 2 * CHECK_MS)
    assert starts(fake) == [0]
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 1)])
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]


def test_pages_from_disk_are_awaited() -> None:
    fake = retaining(retention_ms="1")
    append(fake, 3)
    fake.log.loading = Pending()
    fake.scheduler.advance(2 * CHECK_MS)
    assert starts(fake) == [0]
    fake.log.load()
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]


def test_the_timestamp_index_is_awaited() -> None:
    fake = retaining(retention_ms="1")
    append(fake, 3)
    fake.log.wait_in("at_timestamp")
    fake.scheduler.advance(2 * CHECK_MS)
    assert starts(fake) == [0]
    fake.log.load()
    fake.scheduler.advance(CHECK_MS)
    assert (starts(fake), expired(fake)) == ([3], [("t", 1, "time", 3)])


def test_a_topic_may_be_deleted_while_its_timestamp_index_is_awaited() -> None:
    fake = retaining(retention_ms="1")
    append(fake, 3)
    fake.log.wait_in("at_timestamp")
    fake.scheduler.advance(2 * CHECK_MS)
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.scheduler.advance(CHECK_MS)
    fake.log.load()
    fake.scheduler.advance(CHECK_MS)
    assert (fake.store.partitions, expired(fake), fake.store.tables["trimming"]) == ({}, [], {})


def test_an_altered_config_ends_a_look_that_waits() -> None:
    fake = retaining(retention_ms="1")
    append(fake, 3)
    fake.log.wait_in("at_timestamp")
    fake.scheduler.advance(2 * CHECK_MS)
    alter(fake, "retention.ms", "1000000")
    fake.log.load()
    fake.scheduler.advance(2 * CHECK_MS)
    assert starts(fake) == [0]


def test_a_failed_commit_removes_nothing_until_a_later_check() -> None:
    fake = retaining(retention_ms="100")
    append(fake, 3)
    fake.scheduler.advance(CHECK_MS - 1)
    fake.commit.fail_next()
    fake.scheduler.advance(1)
    assert (starts(fake), expired(fake), fake.store.tables.get("trimming")) == ([0], [], None)
    fake.scheduler.advance(RETRY_MS + CHECK_MS)
    assert (starts(fake), len(expired(fake))) == ([3], 1)


def test_an_unreadable_partition_does_not_stop_the_others() -> None:
    fake = retaining(2, retention_ms="100")
    append(fake)
    append(fake, index=1)
    again = fake.restarted()
    again.broker.start_upkeep()
    again.clock.advance(100)
    again.log.failing = StorageFailed("broken disk")
    again.scheduler.advance(CHECK_MS)
    assert [one["partition"] for one in again.events.of("partition_unreadable")] == [0]
    again.log.failing = None
    again.scheduler.advance(RETRY_MS)
    assert starts(again) == [0, 1]
    again.scheduler.advance(CHECK_MS)
    assert starts(again) == [1, 1]


def test_the_leader_of_a_partition_removes_its_records() -> None:
    fake = retaining(2, retention_ms="100")
    append(fake)
    append(fake, index=1)
    fake.placement.move(fake.existing().partition_ids[0], Leader(2, 1))
    fake.scheduler.advance(CHECK_MS)
    assert fake.partition(index=1).log_start_offset == 1
    fake.placement.move(fake.existing().partition_ids[0], Leader(1, 2))
    assert starts(fake) == [0, 1]


def test_a_clock_that_jumps_a_day_back_removes_nothing() -> None:
    fake = retaining(retention_ms="1000")
    append(fake, 3)
    fake.clock.jump(-86_400_000)
    fake.scheduler.advance(3 * CHECK_MS)
    assert starts(fake) == [0]
    fake.clock.jump(86_400_000)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [3]


def test_a_compacted_log_is_trimmed_before_compaction_can_shrink_it() -> None:
    fake = retaining(cleanup_policy="compact,delete", retention_bytes=str(2 * SIZE))
    fake.topic("u", retention_ms="1000")
    for name in ("t", "t", "t", "t", "u"):
        fake.append(record_batch([("k", "v", [], fake.clock.now_ms())]), name)
    fake.run()
    fake.log.loading, fake.log.loading_of = Pending(), fake.existing("u").partition_ids[0]
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [2]


@pytest.mark.parametrize(("changes", "start"), [(3, 2), (1000, 0)])
def test_a_log_that_a_pass_of_compaction_changes_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, changes: int, start: int
) -> None:
    fake = retaining(cleanup_policy="compact,delete", retention_bytes="1")
    for _ in range(3):
        fake.append(record_batch([("k", "v", [], fake.clock.now_ms())]))
    fake.run()
    read, looks = FlakyLogStore.headers, []

    def changed(log: FlakyLogStore, partition_id: int, offset: int, limit: int) -> list[bytes]:
        if limit == 1:
            looks.append(offset)
            fake.partition().end.size_bytes -= len(looks) <= changes
        return read(log, partition_id, offset, limit)

    monkeypatch.setattr(FlakyLogStore, "headers", changed)
    fake.scheduler.advance(CHECK_MS)
    assert starts(fake) == [start]
    assert len(looks) <= MOST_LOOKS + 1


def test_the_oldest_records_are_those_that_compaction_has_left() -> None:
    """The batch with the last sequence of a producer stays without records."""
    fake = retaining(cleanup_policy="compact,delete", retention_ms="1000")
    now_ms = fake.clock.now_ms()
    for number in range(2):
        row = ("k", "v", (), now_ms + number)
        fake.appended(record_batch([row], producer_id=number, epoch=0, sequence=0))
    compact(fake, 2, producers={0: 0, 1: 1})
    found: list[Outlook] = []
    fake.broker.retention.outlook(fake.existing()).then(found.extend)
    assert [(one.oldest_timestamp, one.expires_ms) for one in found] == [
        (now_ms + 1, now_ms + 1001)
    ]
