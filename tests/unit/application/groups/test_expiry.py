from __future__ import annotations

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS, Runner
from application.groups import expiry
from application.groups.delete import DeleteGroupsService
from application.groups.expiry import OffsetExpiry
from application.groups.offsets import Offsets
from application.state.runtime import ignore
from domain.groups.group import GroupKind
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import FakeGroup, committed, persist_offsets, stored_offsets
from tests.fakes.offsets import HeldOffsetRepository

MINUTE_MS = 60_000
CHECK_MS = 1000


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(
        offsets_retention_minutes="1", offsets_retention_check_interval_ms=str(CHECK_MS)
    )
    fake.topic("t", 4)
    fake.topic("u", 1)
    fake.broker.start_upkeep()
    return fake


def persist(
    fake: FakeBroker, group_id: str, topic: str, *partitions: int, expires_ms: int | None = None
) -> None:
    persist_offsets(fake, group_id, topic, *partitions, expires_ms=expires_ms)
    fake.run()


def put(
    fake: FakeBroker, group_id: str = "g", members: int = 0, expires_from: int | None = None
) -> FakeGroup:
    group = FakeGroup(group_id)
    group.members = dict.fromkeys(map(str, range(members)))
    group.expires_from = expires_from
    fake.broker.groups.registry.put(group)
    return group


def test_offsets_expire_after_the_retention(fake: FakeBroker) -> None:
    put(fake, expires_from=fake.clock.now_ms())
    persist(fake, "g", "t", 0, 1)
    fake.scheduler.advance(MINUTE_MS - CHECK_MS)
    assert fake.broker.groups.offsets.holds("g")
    fake.scheduler.advance(CHECK_MS)
    assert not fake.broker.groups.offsets.holds("g")
    assert stored_offsets(fake) == 0


def test_an_empty_group_is_deleted_with_its_last_offset(fake: FakeBroker) -> None:
    group = put(fake)
    persist(fake, "g", "t", 0)
    persist(fake, "g", "u", 0, expires_ms=fake.clock.now_ms() + 2 * MINUTE_MS)
    group.expires_from = fake.clock.now_ms()
    fake.scheduler.advance(MINUTE_MS)
    assert fake.broker.groups.offsets.of("g").keys() == {"u"}
    assert fake.broker.groups.registry.find("g") is group
    fake.scheduler.advance(MINUTE_MS)
    assert fake.broker.groups.registry.find("g") is None
    assert fake.restarted().broker.groups.offsets.group_ids() == []


def test_a_group_with_members_is_not_deleted(fake: FakeBroker) -> None:
    group = put(fake, members=1, expires_from=fake.clock.now_ms())
    persist(fake, "g", "t", 0)
    fake.scheduler.advance(2 * MINUTE_MS)
    assert not fake.broker.groups.offsets.holds("g")
    assert fake.broker.groups.registry.find("g") is group


def test_an_empty_group_without_offsets_is_deleted(fake: FakeBroker) -> None:
    put(fake)
    alive = put(fake, "alive", members=1)
    fake.scheduler.advance(CHECK_MS)
    assert list(fake.broker.groups.registry) == [alive]


def test_offsets_of_subscribed_topics_do_not_expire(fake: FakeBroker) -> None:
    put(fake, members=1, expires_from=fake.clock.now_ms()).topics = {"t"}
    persist(fake, "g", "t", 0)
    persist(fake, "g", "u", 0)
    fake.scheduler.advance(2 * MINUTE_MS)
    assert fake.broker.groups.offsets.of("g").keys() == {"t"}


def test_an_expire_timestamp_of_a_commit_replaces_the_retention(fake: FakeBroker) -> None:
    put(fake, expires_from=fake.clock.now_ms())
    persist(fake, "g", "t", 0, expires_ms=fake.clock.now_ms() + 5000)
    persist(fake, "g", "t", 1, expires_ms=fake.clock.now_ms() + 3 * MINUTE_MS)
    fake.scheduler.advance(4000)
    assert stored_offsets(fake) == 2
    fake.scheduler.advance(CHECK_MS)
    assert set(fake.broker.groups.offsets.of("g")["t"]) == {1}
    fake.scheduler.advance(2 * MINUTE_MS)
    assert stored_offsets(fake) == 1


def test_a_simple_group_expires_from_its_commit(fake: FakeBroker) -> None:
    """A simple group, created by its first commit: from the commit on."""
    fake.close()
    broker = FakeBroker(
        fake.store, offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000"
    )
    persist(broker, "g", "t", 0)
    again = broker.restarted()
    again.broker.start_upkeep()
    group = again.broker.groups.registry.find("g")
    assert group is not None
    assert (group.kind, group.protocol_type) == (GroupKind.CLASSIC, "")
    again.scheduler.advance(MINUTE_MS - 1000)
    assert again.broker.groups.offsets.holds("g")
    again.scheduler.advance(1000)
    assert not again.broker.groups.offsets.holds("g")
    assert again.broker.groups.registry.find("g") is None


def test_offsets_are_checked_and_deleted_in_slices(fake: FakeBroker) -> None:
    fake.topic("wide", 2500)
    group = put(fake)
    persist(fake, "g", "wide", *range(2500))
    before = len(fake.scheduler.timers)
    fake.scheduler.advance(CHECK_MS)
    assert stored_offsets(fake) == 2500
    group.expires_from = 0
    fake.clock.look_ns = SLICE_NS
    counts = []
    while stored_offsets(fake):
        earlier = stored_offsets(fake)
        fake.scheduler.advance(PAUSE_MS)
        counts.append(earlier - stored_offsets(fake))
    assert max(counts) == expiry.ROWS_PER_STEP
    fake.scheduler.advance(CHECK_MS)
    assert fake.broker.groups.registry.find("g") is None
    assert len(fake.scheduler.timers) == before


def held(fake: FakeBroker) -> tuple[HeldOffsetRepository, Offsets]:
    """An expiry whose writes the test completes."""
    repository = HeldOffsetRepository()
    groups = fake.broker.groups.registry
    pending = fake.broker.groups.offsets.pending
    offsets = Offsets(
        repository, groups, fake.broker.catalog, fake.broker.groups.coordinators, pending
    )
    repository.finish_loading()
    fake.broker.stop_upkeep()
    events = fake.events
    deleting = DeleteGroupsService(offsets, groups, events)
    background = Runner(fake.scheduler, fake.clock, fake.broker.commits)
    OffsetExpiry(offsets, groups, deleting, fake.clock, background, fake.config, events).start()
    return repository, offsets


def test_offsets_with_a_pending_commit_are_left_for_the_next_round(fake: FakeBroker) -> None:
    repository, offsets = held(fake)
    put(fake, expires_from=0)
    one = committed(topic_id=fake.existing("t").topic_id)
    offsets.persist("g", [("g", "t", 0, one)], ignore)
    repository.complete()
    offsets.persist("g", [("g", "t", 0, one)], ignore)
    fake.scheduler.advance(CHECK_MS)
    assert len(repository.waiting) == 1
    repository.complete()
    fake.scheduler.advance(CHECK_MS)
    assert repository.complete() == [("g", "t", 0, None)]
    fake.run()
    assert fake.broker.groups.registry.find("g") is None


def test_a_commit_between_two_slices_prevents_the_deletion_of_its_group(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "OFFSETS_PER_STEP", 1)
    fake.clock.look_ns = SLICE_NS
    repository, offsets = held(fake)
    group = put(fake, expires_from=0)
    one = committed(topic_id=fake.existing("t").topic_id)
    offsets.persist("g", [("g", "t", n, one) for n in range(2)], ignore)
    repository.complete()
    fake.scheduler.advance(CHECK_MS)
    assert repository.complete() == [("g", "t", 0, None)]
    offsets.persist("g", [("g", "t", 0, one), ("g", "t", 3, one)], ignore)
    repository.complete()
    fake.scheduler.advance(PAUSE_MS)
    assert repository.complete() == [("g", "t", 1, None)]
    fake.scheduler.advance(PAUSE_MS)
    assert not repository.waiting
    assert fake.broker.groups.registry.find("g") is group
    assert set(offsets.of("g")["t"]) == {0, 3}


def test_nothing_expires_before_offsets_are_loaded_or_after_the_stop(fake: FakeBroker) -> None:
    put(fake)
    fake.broker.groups.offsets.loaded = False
    fake.scheduler.advance(3 * CHECK_MS)
    assert fake.broker.groups.registry.find("g") is not None
    fake.broker.groups.offsets.loaded = True
    fake.scheduler.advance(CHECK_MS)
    assert fake.broker.groups.registry.find("g") is None
    put(fake)
    fake.broker.stop_upkeep()
    fake.scheduler.advance(10 * CHECK_MS)
    assert fake.broker.groups.registry.find("g") is not None


def test_a_group_is_checked_once_per_topic_not_per_offset(fake: FakeBroker) -> None:
    """It may iterate over thousands of members."""

    class Counting(FakeGroup):
        calls = 0

        def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
            self.calls += 1
            return committed_ms

    group = Counting("g")
    group.members = {"m": None}
    fake.broker.groups.registry.put(group)
    fake.topic("w", 500)
    persist(fake, "g", "t", 0, 1)
    persist(fake, "g", "w", *range(500))
    fake.scheduler.advance(CHECK_MS)
    assert group.calls == 2
    fake.scheduler.advance(MINUTE_MS)
    assert not fake.broker.groups.offsets.holds("g")
