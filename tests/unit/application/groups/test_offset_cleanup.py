from __future__ import annotations

import pytest

from application.groups.offset_cleanup import ROWS_PER_WRITE, OffsetCleanup
from application.groups.offsets import Offsets
from domain.errors import StorageFailed
from domain.groups.offsets import CommittedOffset
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import committed
from tests.fakes.offsets import HeldOffsetRepository


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.broker.start_upkeep()
    fake.topic("t", 3)
    fake.topic("u", 1)
    return fake


def at(fake: FakeBroker, topic: str, offset: int) -> CommittedOffset:
    return committed(offset, topic_id=fake.existing(topic).topic_id)


def keep(fake: FakeBroker, group_id: str, topic: str, *partitions: int, offset: int = 5) -> None:
    one = at(fake, topic, offset)
    writes = [(group_id, topic, partition, one) for partition in partitions]
    fake.broker.groups.offsets.persist(group_id, writes, lambda failure: None)


def delete_topic(fake: FakeBroker, name: str) -> None:
    fake.broker.topics.delete_topics.delete([fake.existing(name)])


def stored(fake: FakeBroker) -> int:
    return len(fake.store.tables.get("offsets", {}))


def test_offsets_go_with_their_topic(fake: FakeBroker) -> None:
    keep(fake, "g", "t", 0, 1)
    keep(fake, "g", "u", 0)
    keep(fake, "h", "t", 2)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    offsets = fake.broker.groups.offsets
    assert offsets.of("g").keys() == {"u"}
    assert offsets.of("h") == {}
    assert stored(fake) == 4
    fake.scheduler.advance(1000)
    assert stored(fake) == 1


def test_they_go_a_slice_at_a_time(fake: FakeBroker) -> None:
    fake.topic("wide", 250)
    keep(fake, "g", "wide", *range(250))
    fake.run()
    delete_topic(fake, "wide")
    fake.run()
    left = []
    for _ in range(3):
        fake.scheduler.advance(2)
        left.append(stored(fake))
    assert left == [250 - ROWS_PER_WRITE, 250 - 2 * ROWS_PER_WRITE, 0]
    assert len(fake.broker.groups.offset_cleanup) == 0


def test_a_topic_that_is_made_again_begins_without_offsets_and_keeps_its_own(
    fake: FakeBroker,
) -> None:
    keep(fake, "g", "t", 0, 1)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    fake.topic("t", 3)
    assert fake.broker.groups.offsets.of("g") == {}
    keep(fake, "g", "t", 1, offset=9)
    fake.run()
    fake.scheduler.advance(1000)
    expected = {"t": {1: at(fake, "t", 9)}}
    assert fake.broker.groups.offsets.of("g") == expected
    assert fake.restarted().broker.groups.offsets.of("g") == expected


def test_a_commit_that_is_under_way_when_its_topic_goes_is_not_read(fake: FakeBroker) -> None:
    delete_topic(fake, "t")
    keep(fake, "g", "t", 0)
    fake.run()
    assert fake.broker.groups.offsets.of("g") == {}
    fake.scheduler.advance(1000)
    assert stored(fake) == 0


def test_nor_does_it_stay_when_its_commit_takes_long(fake: FakeBroker) -> None:
    fake.commit.hold()
    delete_topic(fake, "t")
    fake.scheduler.run_pass()
    keep(fake, "g", "t", 0)
    fake.commit.let_go()
    fake.commit.hold()
    fake.scheduler.run_pass()
    assert fake.commit.under_way
    fake.scheduler.advance(100)
    fake.commit.let_go()
    fake.run()
    assert stored(fake) == 1
    fake.scheduler.advance(1000)
    assert (fake.broker.groups.offsets.of("g"), stored(fake)) == ({}, 0)
    assert len(fake.broker.groups.offset_cleanup) == 0


def test_what_a_crash_left_is_dropped_at_the_next_start(fake: FakeBroker) -> None:
    keep(fake, "g", "t", 0, 1)
    keep(fake, "g", "u", 0)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    assert stored(fake) == 3
    again = fake.restarted()
    assert again.broker.groups.offsets.of("g").keys() == {"u"}
    again.broker.start_upkeep()
    again.scheduler.advance(1000)
    assert stored(again) == 1


def test_what_could_not_be_dropped_is_tried_again(fake: FakeBroker) -> None:
    keep(fake, "g", "t", 0, 1)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    fake.commit.fail_next()  # in which the topic's partitions are dropped
    fake.commit.fail_next()
    fake.scheduler.advance(2)
    assert stored(fake) == 2
    fake.scheduler.advance(2000)
    assert stored(fake) == 0


def test_after_the_stop_the_store_is_left_alone(fake: FakeBroker) -> None:
    keep(fake, "g", "t", 0, 1)
    fake.run()
    delete_topic(fake, "t")
    fake.run()
    fake.broker.stop_upkeep()
    fake.scheduler.advance(10_000)
    assert stored(fake) == 2


def test_stale_rows_of_a_store_that_loads_late_are_dropped_too(fake: FakeBroker) -> None:
    repository = HeldOffsetRepository()
    offsets = Offsets(
        repository, fake.broker.groups.registry, fake.broker.catalog, fake.broker.placement
    )
    offset_cleanup = OffsetCleanup(offsets, fake.broker.background)
    offset_cleanup.start()
    repository.give([("g", "gone", 1, committed())])
    fake.scheduler.advance(100)
    assert not repository.waiting
    repository.give_all()
    fake.scheduler.advance(100)
    assert repository.keep(StorageFailed("not now")) == [("g", "gone", 1, None)]
    fake.scheduler.advance(999)
    assert not repository.waiting
    fake.scheduler.advance(1)
    assert repository.keep() == [("g", "gone", 1, None)]
    assert (offsets.stale, len(offset_cleanup)) == ([], 0)
