"""One pass over a log, beside changes of the log; most are in test_compaction.py."""

from __future__ import annotations

import pytest

from application.background.worker import WorkerPart
from application.partitions import log_cleaner
from application.partitions.cleaning import LONGEST_PAUSE_MS, CleaningEnd
from application.partitions.delete_records import RecordsToDelete
from application.ports.pending import Pending
from tests.fakes.batches import ZSTD, record_batch
from tests.fakes.compaction import FakeWorker
from tests.unit.application.partitions.test_compaction import (
    append,
    compact,
    compacting,
    passes,
    records,
    with_worker,
)


@pytest.mark.parametrize(
    "batch, jobs",
    [
        (record_batch(["v"], codec=ZSTD), 1),
        (record_batch(["v" * log_cleaner.READ_BYTES_HERE]), 1),
        (record_batch(["v"]), 0),
    ],
    ids=["compressed", "large", "neither"],
)
def test_a_small_log_needs_a_worker_for_a_batch_that_takes_long(
    batch: bytearray, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch, cleanup_policy="delete")
    monkeypatch.undo()  # of the size of a small log
    fake.appended(batch)
    append(fake, "a")
    topic = fake.existing()
    fake.broker.catalog.put(topic.configured({**topic.configs, "cleanup.policy": "compact"}))
    compact(fake)
    assert (len(worker.jobs), len(passes(fake))) == (jobs, 1)


@pytest.mark.parametrize(("lag_ms", "is_urgent"), [("1000", True), ("9000000", False)])
def test_a_pass_beyond_max_compaction_lag_is_urgent(
    lag_ms: str, is_urgent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch, max_compaction_lag_ms=lag_ms)
    compact(fake)
    assert [job.is_urgent for job in worker.jobs] == [is_urgent]
    assert len(passes(fake)) == 1


def test_without_a_worker_a_pass_is_done_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files are open, or too many processes."""
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    monkeypatch.setattr(worker, "start", lambda plan, log: None)
    compact(fake)
    assert [offset for offset, _ in records(fake)] == [26, 27, 28, 29]


def test_records_that_are_deleted_during_a_pass_do_not_count_as_clean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker has counted all of them before."""
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch, cleanup_policy="compact,delete")
    append(fake, *"defghijklmnopqrstuvwxyz")
    following = worker.next

    def delete_first() -> object:
        monkeypatch.setattr(worker, "next", following)
        fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, 50)])
        return following()

    monkeypatch.setattr(worker, "next", delete_first)
    compact(fake)
    partition = fake.partition()
    assert (partition.log_start_offset, len(passes(fake))) == (50, 1)
    assert partition.cleaned.size_bytes <= partition.durable.size_bytes == len(fake.stored())
    append(fake, *"aaaa")
    compact(fake)
    assert [offset for offset, _ in records(fake)] == [50, 51, 52, 55, 56]


def test_a_worker_that_replaces_nothing_is_stopped_when_the_topic_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    part: Pending[WorkerPart[CleaningEnd]] = Pending()
    monkeypatch.setattr(worker, "next", lambda: part)
    compact(fake)
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.run()
    part.resolve(WorkerPart(b""))
    assert worker.is_closed


def test_a_slow_pass_ends_soon_after_its_topic_is_deleted() -> None:
    fake = compacting({"log_cleaner_io_max_bytes_per_second": "1"})
    append(fake, *"aaaa")
    compact(fake)
    fake.broker.topics.delete_topics.delete([fake.existing()])
    fake.scheduler.advance(LONGEST_PAUSE_MS)
    assert fake.broker.compaction.metrics.since_last_run_ms <= LONGEST_PAUSE_MS
