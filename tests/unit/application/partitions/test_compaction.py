"""Compaction as a job: which logs, in steps, beside everything else that happens to them."""

from __future__ import annotations

import pytest

from application.background.runner import PAUSE_MS, RETRY_MS
from application.background.worker import WorkerPart
from application.partitions import log_cleaner
from application.partitions.cleaning import (
    CleaningEnd,
)
from application.partitions.delete_records import RecordsToDelete
from application.ports.pending import Pending
from domain.compaction.log_to_clean import LogToClean, log_to_clean
from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch, batches_in
from domain.partitions.snapshot import Cleaned
from tests.fakes.batches import Record, Value, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import FakeWorker, messages_of

BACKOFF_MS = 15_000


def compacting(settings: dict[str, str] | None = None, **configs: str) -> FakeBroker:
    """With the topic `t`, where each batch begins a segment."""
    fake = FakeBroker(**(settings or {}))
    fake.topic("t", **{"cleanup_policy": "compact", "segment_ms": "1", **configs})
    fake.broker.start_upkeep()
    return fake


def cleaner_of(fake: FakeBroker) -> log_cleaner.LogCleaner:
    """Made before the first log is due."""
    service = fake.broker.compaction
    service._cleaner = service._make_cleaner()
    return service._cleaner


def append(fake: FakeBroker, *keys: str | None, value: Value = "v", name: str = "t") -> None:
    """Batches of one record, each 10 ms after the one before."""
    for key in keys:
        fake.scheduler.advance(10)
        row: Record = (key, value, (), fake.clock.now_ms())
        fake.append(record_batch([row]), name)
        fake.run()


def compact(fake: FakeBroker) -> None:
    fake.scheduler.advance(BACKOFF_MS + 1000)


def records(fake: FakeBroker, name: str = "t") -> list[tuple[int, str]]:
    """Offset and key of each record in the log."""
    return [
        (message.offset, (message.key or b"").decode())
        for batch in batches_in(fake.stored(name))
        for message in messages_of(batch)
    ]


def passes(fake: FakeBroker) -> list[tuple[object, object]]:
    return [(one["partition"], one["records_removed"]) for one in fake.events.of("log_compacted")]


def test_a_segment_is_active_until_the_next_one_is_durable() -> None:
    fake = compacting()
    append(fake, *"ab")
    assert log_to_clean(fake.partition()).first_uncleanable_offset == 1
    fake.commit.hold()
    append(fake, *"ab")
    assert fake.partition().segment.base_offset == 3
    assert log_to_clean(fake.partition()).cleanable_bytes == 0
    fake.commit.let_go()
    fake.run()
    assert log_to_clean(fake.partition()).first_uncleanable_offset == 3


def test_the_newest_record_of_each_key_stays() -> None:
    fake = compacting()
    append(fake, *"abcaba")
    size_bytes = fake.partition().durable.size_bytes
    compact(fake)

    # The last record is in the active segment: it does not count, and stays.
    assert records(fake) == [(2, "c"), (3, "a"), (4, "b"), (5, "a")]
    partition = fake.partition()
    assert (partition.log_start_offset, partition.high_watermark) == (0, 6)
    assert partition.durable.size_bytes == len(fake.stored()) < size_bytes
    assert passes(fake) == [(0, 2)]
    [event] = fake.events.of("log_compacted")
    assert event["bytes_before"] == 5 * len(record_batch([("a", "v", (), 1)]))
    metrics = fake.broker.compaction.metrics
    assert metrics.recopy_ratio == pytest.approx(3 / 5)
    assert (metrics.max_dirty_ratio, metrics.uncleanable, metrics.records_removed) == (0, 0, 2)


def test_every_record_of_a_clean_log_is_fetched() -> None:
    fake = compacting()
    append(fake, *"aaaab")
    compact(fake)
    for offset in range(4):
        partition = fake.partition()
        data = fake.log.read(partition.partition_id, offset, 5, 1, True)
        assert RecordBatch(memoryview(data)).base_offset == 3


def test_a_log_that_is_clean_enough_is_not_compacted() -> None:
    fake = compacting()
    append(fake, *"abcdefghi")
    compact(fake)
    append(fake, *"abcdefgh")  # 8 of 16 are dirty
    compact(fake)
    assert len(passes(fake)) == 1
    append(fake, "i")
    compact(fake)
    assert passes(fake) == [(0, 0), (0, 8)]
    assert [offset for offset, _ in records(fake)] == [*range(8, 18)]


def test_max_compaction_lag_is_observed_in_a_log_that_is_clean_enough() -> None:
    fake = compacting(max_compaction_lag_ms="60000")
    append(fake, *"abcdefghi")
    compact(fake)
    append(fake, *"ab")
    compact(fake)
    assert len(passes(fake)) == 1
    metrics = fake.broker.compaction.metrics
    delays_ms = set()
    for _ in range(5):
        compact(fake)
        delays_ms.add(metrics.max_delay_ms)
    assert passes(fake) == [(0, 0), (0, 1)]
    assert 0 < max(delays_ms) <= BACKOFF_MS
    assert metrics.max_delay_ms == 0


def test_young_records_are_not_compacted() -> None:
    fake = compacting(min_compaction_lag_ms="60000")
    append(fake, *"aaaa")
    fake.scheduler.advance(50_000)
    append(fake, *"aaaa")
    fake.scheduler.advance(25_000)
    assert [offset for offset, _ in records(fake)] == [3, 4, 5, 6, 7]
    assert passes(fake) == [(0, 3)]


def test_the_dirtiest_log_is_compacted_first() -> None:
    fake = compacting()
    for name, keys in (("u", "abcabc"), ("w", "aaaaaaaa")):
        fake.topic(name, cleanup_policy="compact", segment_ms="1")
        append(fake, *keys[:4], name=name)
    compact(fake)
    append(fake, *"zyxw", name="u")
    append(fake, *"zyxwvuabcdefg", name="w")
    fake.events.lines.clear()
    compact(fake)
    assert [one["topic"] for one in fake.events.of("log_compacted")] == ["w", "u"]


def test_a_restart_knows_what_is_clean() -> None:
    fake = compacting()
    append(fake, *"aaaa")
    compact(fake)
    cleaned = fake.partition().cleaned
    assert cleaned == Cleaned(3, len(record_batch([("a", "v", (), 1)])))

    again = fake.restarted()
    again.broker.start_upkeep()
    assert again.partition().cleaned == cleaned
    assert again.partition().segment.base_offset == 3
    compact(again)
    assert passes(again) == []
    append(again, *"aaa")
    compact(again)
    assert records(again) == [(5, "a"), (6, "a")]


def test_a_policy_that_is_switched_on_compacts_what_is_there() -> None:
    fake = compacting(cleanup_policy="delete")
    append(fake, *"aaa", None, "b")
    compact(fake)
    assert len(records(fake)) == 5
    topic = fake.existing()
    fake.broker.catalog.put(topic.configured({**topic.configs, "cleanup.policy": "compact"}))
    compact(fake)
    assert records(fake) == [(2, "a"), (4, "b")]


def test_compaction_can_be_disabled() -> None:
    fake = compacting({"log_cleaner_enable": "false"})
    append(fake, *"aaaa")
    compact(fake)
    assert len(records(fake)) == 4


def test_a_full_offset_map_ends_a_pass_and_the_next_one_follows() -> None:
    fake = compacting(min_cleanable_dirty_ratio="0.01")
    fake.config.log_cleaner_dedupe_buffer_size = 640
    append(fake, *"abcdefabcdefx")
    compact(fake)
    assert records(fake) == [*((6 + at, key) for at, key in enumerate("abcdefx"))]
    assert len(passes(fake)) == 4


# ---- beside other changes


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> FakeBroker:
    """A pass has replaced some batches, and many more are to be replaced."""
    monkeypatch.setattr(log_cleaner, "READ_BYTES_HERE", 200)
    fake = compacting(cleanup_policy="compact,delete")
    append(fake, *"ab" * 20)
    fake.broker.snapshot_all(lambda failure: None)
    fake.scheduler.advance(BACKOFF_MS - fake.clock.monotonic_ms())
    while len(records(fake)) > 35:
        fake.scheduler.advance(PAUSE_MS)
    assert len(records(fake)) > 20
    return fake


def test_a_pass_that_a_restart_cuts_runs_again(begun: FakeBroker) -> None:
    again = begun.restarted()
    assert again.partition().durable.size_bytes == len(again.stored())
    again.broker.start_upkeep()
    compact(again)
    assert [offset for offset, _ in records(again)] == [37, 38, 39]
    assert again.partition().durable.size_bytes == len(again.stored())


def test_deleted_records_do_not_come_back(begun: FakeBroker) -> None:
    begun.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 36)])
    begun.scheduler.advance(1000)
    assert [offset for offset, _ in records(begun)] == [37, 38, 39]
    assert begun.partition().durable.size_bytes == len(begun.stored())
    assert begun.partition().log_start_offset == 36


def test_records_are_appended_meanwhile(begun: FakeBroker) -> None:
    append(begun, *"ab")
    begun.scheduler.advance(1000)
    assert [offset for offset, _ in records(begun)] == [37, 38, 39, 40, 41]
    assert begun.partition().durable.size_bytes == len(begun.stored())


def test_the_deletion_of_the_topic_ends_the_pass(begun: FakeBroker) -> None:
    begun.broker.topics.delete_topics.delete([begun.existing()])
    begun.scheduler.advance(BACKOFF_MS)
    assert begun.store.partitions == {}
    assert begun.store.tables["partitions"] == {}
    assert begun.broker.compaction.metrics.uncleanable == 0


def test_another_policy_ends_the_pass(begun: FakeBroker) -> None:
    count = len(records(begun))
    topic = begun.existing()
    begun.broker.catalog.put(topic.configured({**topic.configs, "cleanup.policy": "delete"}))
    begun.scheduler.advance(BACKOFF_MS)
    assert len(records(begun)) == count


def test_after_a_failed_commit_the_pass_runs_again(begun: FakeBroker) -> None:
    count = len(records(begun))
    begun.commit.fail_next()
    begun.scheduler.advance(PAUSE_MS)
    append(begun, "c")  # by a client, which loads the partition again
    begun.scheduler.advance(RETRY_MS - 20)
    assert len(records(begun)) == count + 1
    compact(begun)
    assert [offset for offset, _ in records(begun)] == [38, 39, 40]
    assert begun.partition().durable.size_bytes == len(begun.stored())


def test_a_partition_that_cannot_be_read_is_uncleanable(begun: FakeBroker) -> None:
    begun.log.failing = StorageFailed("the disk cannot be read")
    compact(begun)
    metrics = begun.broker.compaction.metrics
    assert metrics.uncleanable == 1
    assert 0 < metrics.uncleanable_bytes <= begun.partition().durable.size_bytes
    assert begun.events.of("log_compaction_failed")
    begun.log.failing = None
    begun.scheduler.advance(3 * BACKOFF_MS)
    assert (metrics.uncleanable, metrics.uncleanable_bytes) == (0, 0)
    assert [offset for offset, _ in records(begun)] == [37, 38, 39]


def test_a_pass_that_fails_unexpectedly_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = compacting()
    fake.topic("u", cleanup_policy="compact", segment_ms="1")
    for name in "tu":
        append(fake, *"aaaa", name=name)
    cleaner = cleaner_of(fake)

    def fail(found: LogToClean) -> None:
        monkeypatch.undo()  # the next pass succeeds
        raise ValueError(found)

    monkeypatch.setattr(cleaner, "clean", fail)
    compact(fake)
    assert (len(records(fake)), len(records(fake, "u"))) == (4, 2)
    assert fake.broker.compaction.metrics.uncleanable == 1
    assert isinstance(fake.events.of("log_compaction_failed")[0]["error"], ValueError)


def test_the_bytes_per_second_are_limited() -> None:
    fake = compacting({"log_cleaner_io_max_bytes_per_second": "100"})
    append(fake, *"aaaaa")
    size_bytes = fake.partition().durable.size_bytes
    compact(fake)
    assert passes(fake) == []
    fake.scheduler.advance(2 * size_bytes * 10)
    assert passes(fake) == [(0, 3)]


# ---- with a worker


def with_worker(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, **configs: str) -> FakeBroker:
    monkeypatch.setattr(log_cleaner, "SMALL_LOG_BYTES", 0)
    fake = compacting(**configs)
    cleaner_of(fake)._workers = worker
    append(fake, *"abc" * 10)
    return fake


def test_a_worker_computes_the_replacements(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    compact(fake)
    assert [offset for offset, _ in records(fake)] == [26, 27, 28, 29]
    assert passes(fake) == [(0, 26)]
    assert fake.partition().durable.size_bytes == len(fake.stored())
    assert worker.is_closed


def test_if_the_worker_is_killed_the_pass_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker(parts=2)
    fake = with_worker(worker, monkeypatch)
    compact(fake)
    assert 4 < len(records(fake)) < 30
    assert fake.broker.compaction.metrics.uncleanable == 1
    worker.parts = 1000
    compact(fake)
    assert [offset for offset, _ in records(fake)] == [26, 27, 28, 29]


def test_what_a_worker_replaces_may_be_deleted_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = with_worker(FakeWorker(), monkeypatch, cleanup_policy="compact,delete")
    append(fake, *"adbecfagbhciaj")
    fake.scheduler.advance(BACKOFF_MS - fake.clock.monotonic_ms())
    while len(records(fake)) == 44:
        fake.scheduler.advance(PAUSE_MS)
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 42)])
    fake.scheduler.advance(1000)
    assert [offset for offset, _ in records(fake)] == [42, 43]
    assert fake.partition().durable.size_bytes == len(fake.stored())


def test_a_small_log_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    monkeypatch.setattr(log_cleaner, "SMALL_LOG_BYTES", 1 << 20)
    compact(fake)
    assert (len(passes(fake)), worker.jobs) == (1, [])


def test_the_worker_ends_with_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    part: Pending[WorkerPart[CleaningEnd]] = Pending()
    monkeypatch.setattr(worker, "next", lambda: part)
    compact(fake)
    assert not worker.is_closed
    fake.broker.stop_upkeep()
    assert worker.is_closed
