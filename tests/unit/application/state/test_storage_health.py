from __future__ import annotations

import pytest

from application.partitions.fetch import FetchItem, FetchQuery
from application.state.storage_health import REPEAT_MS
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

STOPS = "storage_failed"
GOES_ON = "storage_recovered"


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t")
    fake.events.lines.clear()
    return fake


def commit(fake: FakeBroker, why: str | None) -> None:
    if why is not None:
        fake.commit.fail_next(why)
    fake.append(record_batch(["a"]))
    fake.run()


def told(fake: FakeBroker) -> list[tuple[str, str, dict[str, object]]]:
    lines, fake.events.lines = fake.events.lines, []
    return lines


def test_as_long_as_all_is_well_nothing_is_said(fake: FakeBroker) -> None:
    commit(fake, None)
    assert told(fake) == []


def test_a_reason_is_told_once_however_many_commits_fail(fake: FakeBroker) -> None:
    for _ in range(3):
        commit(fake, "no space is left")
    assert told(fake) == [("error", STOPS, {"error": "no space is left"})]


def test_another_reason_is_told_too(fake: FakeBroker) -> None:
    for why in ("no space is left", "restart the broker", "no space is left"):
        commit(fake, why)
    assert [fields["error"] for _, _, fields in told(fake)] == [
        "no space is left",
        "restart the broker",
    ]


def test_the_end_of_it_is_told_and_the_next_trouble_is_a_new_one(fake: FakeBroker) -> None:
    for why in ("no space is left", "no space is left", None, None, "no space is left"):
        commit(fake, why)
    assert told(fake) == [
        ("error", STOPS, {"error": "no space is left"}),
        ("info", GOES_ON, {"failed_commits": 2}),
        ("error", STOPS, {"error": "no space is left"}),
    ]


def test_a_commit_with_nothing_in_it_does_not_end_the_trouble(fake: FakeBroker) -> None:
    """Who waits for a batch that was staged before, or looks for producers that are silent."""
    commit(fake, "no space is left")
    told(fake)
    fake.broker.commits.wait(lambda failure: None)
    fake.run()
    fake.broker.snapshot_all(lambda failure: None)
    fake.run()
    fake.broker.producer_expiry.start()
    fake.scheduler.advance(fake.config.producer_id_expiration_check_interval_ms)
    assert told(fake) == []
    commit(fake, None)
    assert told(fake) == [("info", GOES_ON, {"failed_commits": 1})]


@pytest.mark.parametrize("also", ["a batch", "nothing"])
def test_a_topic_that_is_kept_ends_the_trouble(fake: FakeBroker, also: str) -> None:
    commit(fake, "no space is left")
    if also == "a batch":
        fake.append(record_batch(["a"]))
    fake.topic("u")
    assert fake.events.of(GOES_ON) == [{"failed_commits": 1}]


def test_what_a_failure_took_along_is_not_counted_as_kept_by_the_next(fake: FakeBroker) -> None:
    fake.commit.hold()
    fake.append(record_batch(["a"]))
    fake.run()
    fake.broker.commits.when_committed(lambda failure: None)
    fake.commit.let_fail("no space is left")
    fake.broker.commits.wait(lambda failure: None)
    fake.run()
    assert fake.events.of(GOES_ON) == []


# ---- reads

UNREADABLE = "partition_unreadable"


def fetch(fake: FakeBroker, index: int = 0) -> object:
    query = FetchQuery([FetchItem("t", bytes(16), index, 0, 1000, -1)], 0, 1, 1000, False)
    fetched = fake.broker.messages.fetch.fetch(query)
    assert isinstance(fetched, list)
    return fetched[0].error


def test_a_partition_that_cannot_be_read_is_named_once_a_minute(fake: FakeBroker) -> None:
    commit(fake, None)
    fake.log.failing = StorageFailed("input/output error")
    for _ in range(3):
        assert isinstance(fetch(fake), StorageFailed)
    line = ("error", UNREADABLE, {"topic": "t", "partition": 0, "error": "input/output error"})
    assert told(fake) == [line]
    fake.clock.advance(REPEAT_MS)
    fetch(fake)
    assert told(fake) == [line]
    fake.log.failing = None
    assert fetch(fake) is None
    assert told(fake) == []


def test_a_partition_that_cannot_be_loaded_is_named_too(fake: FakeBroker) -> None:
    commit(fake, None)
    again = fake.restarted()
    again.log.failing = StorageFailed("input/output error")
    with pytest.raises(StorageFailed):
        again.partition()
    assert [fields["partition"] for fields in again.events.of(UNREADABLE)] == [0]
