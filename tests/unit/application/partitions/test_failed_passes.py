from __future__ import annotations

from collections import Counter

import pytest

from application.background.job import Job
from application.partitions.failed_passes import LONGEST_WAIT_MS
from domain.compaction.cleaner import CleanerStats
from domain.compaction.log_to_clean import LogToClean
from domain.errors import StorageFailed
from tests.unit.application.partitions.test_compaction import (
    BACKOFF_MS,
    append,
    cleaner_of,
    compacting,
    records,
)


def test_a_pass_that_fails_again_waits_longer_and_is_logged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = compacting()
    append(fake, *"aaa")
    cleaner = cleaner_of(fake)
    clean, begun = cleaner.clean, Counter[str]()

    def count(found: LogToClean) -> Job[CleanerStats | None]:
        begun.update(["passes"])
        return clean(found)

    monkeypatch.setattr(cleaner, "clean", count)
    fake.log.failing = StorageFailed("the disk cannot be read")
    fake.scheduler.advance(4 * LONGEST_WAIT_MS)
    assert len(fake.events.of("log_compaction_failed")) == 1
    assert 8 <= begun["passes"] <= 12  # not 960
    assert fake.broker.compaction.metrics.uncleanable == 1

    fake.log.failing = StorageFailed("of another reason")
    fake.scheduler.advance(LONGEST_WAIT_MS)
    assert len(fake.events.of("log_compaction_failed")) == 2
    fake.log.failing = None
    fake.scheduler.advance(LONGEST_WAIT_MS)
    assert records(fake) == [(1, "a"), (2, "a")]
    assert fake.broker.compaction.metrics.uncleanable == 0


def test_a_partition_whose_policy_changed_does_not_wait() -> None:
    fake = compacting()
    append(fake, *"aaa")
    fake.log.failing = StorageFailed("the disk cannot be read")
    fake.scheduler.advance(LONGEST_WAIT_MS)
    fake.log.failing = None
    topic = fake.existing()
    for policy in ("delete", "compact"):
        fake.broker.catalog.put(topic.configured({**topic.configs, "cleanup.policy": policy}))
        fake.scheduler.advance(BACKOFF_MS + 1000)
    assert records(fake) == [(1, "a"), (2, "a")]
