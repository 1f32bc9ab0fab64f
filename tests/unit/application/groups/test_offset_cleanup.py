from __future__ import annotations

import pytest

from application.groups.offset_cleanup import ROWS_PER_WRITE, OffsetCleanup
from application.groups.offsets import Offsets
from domain.errors import StorageFailed
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import committed, persist_offsets, stored_offsets
from tests.fakes.offsets import HeldOffsetRepository


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.broker.start_upkeep()
    fake.topic("t", 3)
    fake.topic("u", 1)
    return fake


def delete_topic(fake: FakeBroker, name: str) -> None:
    fake.broker.topics.delete_topics.delete([fake.existing(name)])


def delete_committed_topic(fake: FakeBroker, name: str = "t", partitions: int = 2) -> None:
    """Its offsets are still in the store."""
    persist_offsets(fake, "g", name, *range(partitions))
    fake.run()
    delete_topic(fake, name)
    fake.run()


def test_offsets_are_deleted_with_their_topic(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "t", 0, 1)
    persist_offsets(fake, "g", "u", 0)
    persist_offsets(fake, "h", "t", 2)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    offsets = fake.broker.groups.offsets
    assert offsets.of("g").keys() == {"u"}
    assert offsets.of("h") == {}
    assert stored_offsets(fake) == 4
    fake.scheduler.advance(1000)
    assert stored_offsets(fake) == 1


def test_offsets_are_deleted_in_slices(fake: FakeBroker) -> None:
    fake.topic("wide", 250)
    delete_committed_topic(fake, "wide", 250)
    left = []
    for _ in range(3):
        fake.scheduler.advance(2)
        left.append(stored_offsets(fake))
    assert left == [250 - ROWS_PER_WRITE, 250 - 2 * ROWS_PER_WRITE, 0]
    assert len(fake.broker.groups.offset_cleanup) == 0


def test_a_topic_that_is_created_again_has_only_its_own_offsets(
    fake: FakeBroker,
) -> None:
    delete_committed_topic(fake)
    fake.topic("t", 3)
    assert fake.broker.groups.offsets.of("g") == {}
    persist_offsets(fake, "g", "t", 1, offset=9)
    fake.run()
    fake.scheduler.advance(1000)
    expected = fake.broker.groups.offsets.of("g")
    assert {index: one.offset for index, one in expected["t"].items()} == {1: 9}
    assert fake.restarted().broker.groups.offsets.of("g") == expected


def test_a_commit_for_a_topic_that_is_being_deleted_is_not_visible(fake: FakeBroker) -> None:
    delete_topic(fake, "t")
    persist_offsets(fake, "g", "t", 0)
    fake.run()
    assert fake.broker.groups.offsets.of("g") == {}
    fake.scheduler.advance(1000)
    assert stored_offsets(fake) == 0


def test_a_slow_commit_for_a_deleted_topic_is_deleted_too(fake: FakeBroker) -> None:
    fake.commit.hold()
    delete_topic(fake, "t")
    fake.scheduler.run_pass()
    persist_offsets(fake, "g", "t", 0)
    fake.commit.let_go()
    fake.commit.hold()
    fake.scheduler.run_pass()
    assert fake.commit.under_way
    fake.scheduler.advance(100)
    fake.commit.let_go()
    fake.run()
    assert stored_offsets(fake) == 1
    fake.scheduler.advance(1000)
    assert (fake.broker.groups.offsets.of("g"), stored_offsets(fake)) == ({}, 0)
    assert len(fake.broker.groups.offset_cleanup) == 0


def test_offsets_of_deleted_topics_are_deleted_after_a_crash(fake: FakeBroker) -> None:
    persist_offsets(fake, "g", "u", 0)
    delete_committed_topic(fake)
    assert stored_offsets(fake) == 3
    again = fake.restarted()
    assert again.broker.groups.offsets.of("g").keys() == {"u"}
    again.broker.start_upkeep()
    again.scheduler.advance(1000)
    assert stored_offsets(again) == 1


def test_a_failed_deletion_is_repeated(fake: FakeBroker) -> None:
    delete_committed_topic(fake)
    fake.commit.fail_next()  # in which the topic's partitions are dropped
    fake.commit.fail_next()
    fake.scheduler.advance(2)
    assert stored_offsets(fake) == 2
    fake.scheduler.advance(2000)
    assert stored_offsets(fake) == 0


def test_after_the_stop_nothing_is_deleted(fake: FakeBroker) -> None:
    delete_committed_topic(fake)
    fake.broker.stop_upkeep()
    fake.scheduler.advance(10_000)
    assert stored_offsets(fake) == 2


def test_stale_rows_of_a_store_that_loads_slowly_are_deleted(fake: FakeBroker) -> None:
    repository = HeldOffsetRepository()
    groups = fake.broker.groups
    offsets = Offsets(
        repository,
        groups.registry,
        fake.broker.catalog,
        groups.coordinators,
        groups.offsets.pending,
    )
    cleanup = OffsetCleanup(offsets, fake.broker.background)
    cleanup.start()
    repository.load_rows([("g", "gone", 1, committed())])
    fake.scheduler.advance(100)
    assert not repository.waiting
    repository.finish_loading()
    fake.scheduler.advance(100)
    assert repository.complete(StorageFailed("not now")) == [("g", "gone", 1, None)]
    fake.scheduler.advance(999)
    assert not repository.waiting
    fake.scheduler.advance(1)
    assert repository.complete() == [("g", "gone", 1, None)]
    assert (offsets.stale, len(cleanup)) == ([], 0)
