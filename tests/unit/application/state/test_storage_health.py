from __future__ import annotations

import pytest

from application.partitions.fetch_query import FetchItem, FetchQuery
from application.state.runtime import ignore
from application.state.storage_health import NO_ROOM, REFUSED_MS, REPEAT_MS, StorageHealth
from domain.errors import StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic

FAILED, RECOVERED = "storage_failed", "storage_recovered"
TOO_FEW = "store_copies_too_few"


@pytest.fixture
def fake() -> FakeBroker:
    fake = with_topic()
    fake.events.lines.clear()
    return fake


def commit(fake: FakeBroker, why: str | None) -> None:
    if why is not None:
        fake.commit.fail_next(why)
    fake.append(record_batch(["a"]))
    fake.run()


def taken_lines(fake: FakeBroker) -> list[tuple[str, str, dict[str, object]]]:
    lines, fake.events.lines = fake.events.lines, []
    return lines


@pytest.mark.parametrize(
    ("reasons", "logged"),
    [
        ([None], []),
        (["full", "full", "full"], ["full"]),
        (["full", "restart the broker", "full"], ["full", "restart the broker"]),
    ],
)
def test_each_reason_is_logged_once(
    fake: FakeBroker, reasons: list[str | None], logged: list[str]
) -> None:
    for why in reasons:
        commit(fake, why)
    assert taken_lines(fake) == [("error", FAILED, {"error": why}) for why in logged]


def test_a_change_of_copies_is_logged(fake: FakeBroker) -> None:
    for count in (2, 2, 1, 2):
        fake.core.storage_health.counted(count)
    assert taken_lines(fake) == [
        ("warning", "store_copies_changed", {"copies": 1, "before": 2}),
        ("info", "store_copies_changed", {"copies": 2, "before": 1}),
    ]


def test_too_few_copies_are_logged_at_the_start_and_when_it_becomes_so(fake: FakeBroker) -> None:
    def counted(copies: int, required: int) -> list[dict[str, object]]:
        fake.core.storage_health.counted(copies, required)
        return [fields for _, event, fields in taken_lines(fake) if event == TOO_FEW]

    assert counted(1, 2) == [{"copies": 1, "min_insync_replicas": 2}]
    assert counted(1, 2) == []
    assert counted(2, 2) == []
    assert counted(1, 2) == [{"copies": 1, "min_insync_replicas": 2}]
    assert counted(1, 1) == []
    assert counted(1, 3) == [{"copies": 1, "min_insync_replicas": 3}], "the default was altered"


def test_a_recovery_is_logged_and_then_the_next_failure(fake: FakeBroker) -> None:
    for why in ("no space is left", "no space is left", None, None, "no space is left"):
        commit(fake, why)
    assert taken_lines(fake) == [
        ("error", FAILED, {"error": "no space is left"}),
        ("info", RECOVERED, {"failed_commits": 2}),
        ("error", FAILED, {"error": "no space is left"}),
    ]


def test_failures_that_return_are_logged_once_until_there_was_none_for_a_minute(
    fake: FakeBroker,
) -> None:
    """Retention makes room for a few records, which fill the disk again."""
    health = fake.broker.commits.storage_health
    for _ in range(100):
        commit(fake, "no space is left")
        assert health.reason() == "no space is left"
        commit(fake, None)
        assert health.reason() is None
        fake.clock.advance(1000)
    assert taken_lines(fake) == [
        ("error", FAILED, {"error": "no space is left"}),
        ("info", RECOVERED, {"failed_commits": 1}),
        ("error", FAILED, {"error": "no space is left"}),
    ]
    fake.clock.advance(REPEAT_MS - 1000)
    commit(fake, None)
    assert taken_lines(fake) == [("info", RECOVERED, {"failed_commits": 99})]


def test_an_empty_commit_is_no_recovery(fake: FakeBroker) -> None:
    """Of a duplicate that waits, or of a round of producer expiry without idle producers."""
    commit(fake, "no space is left")
    taken_lines(fake)
    fake.broker.commits.wait(ignore)
    fake.run()
    fake.broker.snapshot_all(ignore)
    fake.run()
    fake.broker.producer_expiry.start()
    fake.scheduler.advance(fake.config.producer_id_expiration_check_interval_ms)
    assert taken_lines(fake) == []
    commit(fake, None)
    assert taken_lines(fake) == [("info", RECOVERED, {"failed_commits": 1})]


@pytest.mark.parametrize("also", ["a batch", "nothing"])
def test_a_persisted_topic_is_a_recovery(fake: FakeBroker, also: str) -> None:
    commit(fake, "no space is left")
    if also == "a batch":
        fake.append(record_batch(["a"]))
    fake.topic("u")
    assert fake.events.of(RECOVERED) == [{"failed_commits": 1}]


def test_changes_that_failed_with_a_commit_are_no_recovery(fake: FakeBroker) -> None:
    fake.commit.hold()
    fake.append(record_batch(["a"]))
    fake.run()
    fake.broker.commits.when_committed(ignore)
    fake.commit.let_fail("no space is left")
    fake.broker.commits.wait(ignore)
    fake.run()
    assert fake.events.of(RECOVERED) == []


def fill_disk(fake: FakeBroker) -> None:
    fake.reserve.is_released = True
    commit(fake, "no space is left")


def is_refused(fake: FakeBroker, value: str = "a") -> bool:
    end = fake.partition().end.next_offset
    outcome = fake.append(record_batch([value]))
    refused = isinstance(outcome, StorageFailed) and outcome.message == NO_ROOM
    assert refused == (fake.partition().end.next_offset == end)
    return refused


def test_on_a_full_disk_records_are_refused_and_deletions_are_not(fake: FakeBroker) -> None:
    fill_disk(fake)
    assert is_refused(fake)
    fake.topic("u")  # persisted, as a deletion
    fake.append(record_batch(["a"]), "u")
    fake.run()
    assert fake.events.of(RECOVERED) == []
    assert fake.partition("u").high_watermark == 0


def test_records_continue_when_deletions_have_made_room(fake: FakeBroker) -> None:
    fill_disk(fake)
    fake.reserve.room_bytes = 1000
    assert is_refused(fake)  # other commits come first
    fake.clock.advance(REFUSED_MS)
    assert is_refused(fake, "a" * 1000)
    commit(fake, None)
    assert fake.partition().high_watermark == 1
    assert fake.events.of(RECOVERED) == [{"failed_commits": 1}]
    assert is_refused(fake, "a" * 1000)


def test_records_continue_when_the_disk_has_room(fake: FakeBroker) -> None:
    fill_disk(fake)
    fake.clock.advance(REFUSED_MS)
    assert fake.broker.commits.storage_health.reason() == "no space is left"
    fake.reserve.is_released = False
    for _ in range(2):
        commit(fake, None)
    assert fake.partition().high_watermark == 2
    assert fake.broker.commits.storage_health.reason() is None


def test_without_a_producer_a_broker_is_ready_when_there_is_room(fake: FakeBroker) -> None:
    fill_disk(fake)
    fake.clock.advance(REFUSED_MS)
    fake.reserve.room_bytes = 1000
    assert fake.broker.commits.storage_health.reason() is None


UNREADABLE = "partition_unreadable"


def fetch(fake: FakeBroker, index: int = 0) -> object:
    query = FetchQuery([FetchItem("t", bytes(16), index, 0, 1000, -1)], 0, 1, 1000, False)
    fetched = fake.broker.messages.fetch.fetch(query)
    assert isinstance(fetched, list)
    return fetched[0].error


def test_an_unreadable_partition_is_logged_once_a_minute(fake: FakeBroker) -> None:
    commit(fake, None)
    fake.log.failing = StorageFailed("input/output error")
    for _ in range(3):
        assert isinstance(fetch(fake), StorageFailed)
    line = ("error", UNREADABLE, {"topic": "t", "partition": 0, "error": "input/output error"})
    assert taken_lines(fake) == [line]
    fake.clock.advance(REPEAT_MS)
    fetch(fake)
    assert taken_lines(fake) == [line]
    fake.log.failing = None
    assert fetch(fake) is None
    assert taken_lines(fake) == []


def test_a_partition_that_cannot_be_loaded_is_logged(fake: FakeBroker) -> None:
    commit(fake, None)
    again = fake.restarted()
    again.log.failing = StorageFailed("input/output error")
    with pytest.raises(StorageFailed):
        again.partition()
    assert [fields["partition"] for fields in again.events.of(UNREADABLE)] == [0]


def test_objects_that_wait_are_logged_once_for_a_reason_and_when_they_go_on(
    fake: FakeBroker,
) -> None:
    health = StorageHealth(fake.events, fake.clock)
    for reason in (None, "access denied", "access denied", "no response", None, None):
        health.not_sealed(reason)
        assert health.reason() is None
    assert taken_lines(fake) == [
        ("warning", "objects_wait", {"reason": "access denied"}),
        ("warning", "objects_wait", {"reason": "no response"}),
        ("info", "objects_go_on", {}),
    ]


def test_a_table_that_cannot_be_dropped_is_logged_once(fake: FakeBroker) -> None:
    health = StorageHealth(fake.events, fake.clock)
    for reasons in ((), ("a view",), ("a view", "a trigger"), ("a trigger",), (), ("a view",)):
        health.not_dropped(reasons)
        assert health.reason() is None
    assert taken_lines(fake) == [
        ("warning", "table_not_dropped", {"reason": one})
        for one in ("a view", "a trigger", "a view")
    ]


def test_repeated_commits_are_logged(fake: FakeBroker) -> None:
    health = StorageHealth(fake.events, fake.clock)
    for commits in (0, 3, 3, 5):
        health.repeated(commits)
    assert taken_lines(fake) == [
        ("warning", "commits_repeated", {"commits": 3}),
        ("warning", "commits_repeated", {"commits": 2}),
    ]


def test_a_commit_that_waits_is_logged_once_and_when_it_goes_on(fake: FakeBroker) -> None:
    health = StorageHealth(fake.events, fake.clock)
    for reason in (None, "cannot be reached: refused", "cannot be reached: timeout"):
        health.waits(reason)
    assert health.reason() == "cannot be reached: timeout"
    health.waits(None)
    health.waits(None)
    assert health.reason() is None
    assert taken_lines(fake) == [
        ("warning", "storage_waits", {"reason": "cannot be reached: refused"}),
        ("info", "storage_goes_on", {}),
    ]


def test_nothing_goes_on_before_a_commit_succeeds(fake: FakeBroker) -> None:
    health = StorageHealth(fake.events, fake.clock)
    health.waits("cannot be reached: refused")
    health.failed(StorageFailed("cannot be reached"))
    for reason in (None, "cannot be reached: refused", None):  # between two commits
        health.waits(reason)
    assert [event for _, event, _ in taken_lines(fake)] == ["storage_waits", "storage_failed"]
    health.succeeded()
    health.waits(None)
    assert [event for _, event, _ in taken_lines(fake)] == ["storage_recovered", "storage_goes_on"]
