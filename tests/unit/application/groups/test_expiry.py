from __future__ import annotations

import pytest

from application.background.runner import PAUSE_MS, SLICE_NS, Runner
from application.groups import expiry
from application.groups.delete import DeleteGroupsService
from application.groups.expiry import OffsetExpiry
from application.groups.offsets import Offsets
from domain.groups.group import GroupKind
from tests.fakes.broker import FakeBroker
from tests.fakes.groups import GroupOfOneWord, committed
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


def keep(
    fake: FakeBroker, group_id: str, topic: str, *partitions: int, expires_ms: int | None = None
) -> None:
    one = committed(
        topic_id=fake.existing(topic).topic_id,
        at_ms=fake.clock.now_ms(),
        expires_ms=expires_ms,
    )
    writes = [(group_id, topic, partition, one) for partition in partitions]
    fake.broker.groups.offsets.persist(group_id, writes, lambda failure: None)
    fake.run()


def put(fake: FakeBroker, group_id: str = "g", members: int = 0) -> GroupOfOneWord:
    group = GroupOfOneWord(group_id)
    group.members = dict.fromkeys(map(str, range(members)))
    fake.broker.groups.registry.put(group)
    return group


def stored(fake: FakeBroker) -> int:
    return len(fake.store.tables.get("offsets", {}))


def test_offsets_go_when_their_retention_is_over(fake: FakeBroker) -> None:
    group = put(fake)
    group.expires_from = fake.clock.now_ms()
    keep(fake, "g", "t", 0, 1)
    fake.scheduler.advance(MINUTE_MS - CHECK_MS)
    assert fake.broker.groups.offsets.holds("g")
    fake.scheduler.advance(CHECK_MS)
    assert not fake.broker.groups.offsets.holds("g")
    assert stored(fake) == 0


def test_the_empty_group_goes_with_its_last_offset(fake: FakeBroker) -> None:
    group = put(fake)
    keep(fake, "g", "t", 0)
    keep(fake, "g", "u", 0, expires_ms=fake.clock.now_ms() + 2 * MINUTE_MS)
    group.expires_from = fake.clock.now_ms()
    fake.scheduler.advance(MINUTE_MS)
    assert fake.broker.groups.offsets.of("g").keys() == {"u"}
    assert fake.broker.groups.registry.find("g") is group
    fake.scheduler.advance(MINUTE_MS)
    assert fake.broker.groups.registry.find("g") is None
    assert fake.restarted().broker.groups.offsets.group_ids() == []


def test_a_group_with_members_stays(fake: FakeBroker) -> None:
    group = put(fake, members=1)
    group.expires_from = fake.clock.now_ms()
    keep(fake, "g", "t", 0)
    fake.scheduler.advance(2 * MINUTE_MS)
    assert not fake.broker.groups.offsets.holds("g")
    assert fake.broker.groups.registry.find("g") is group


def test_an_empty_group_that_never_committed_goes_at_once(fake: FakeBroker) -> None:
    put(fake)
    alive = put(fake, "alive", members=1)
    fake.scheduler.advance(CHECK_MS)
    assert list(fake.broker.groups.registry) == [alive]


def test_what_a_member_reads_stays(fake: FakeBroker) -> None:
    group = put(fake, members=1)
    group.topics = {"t"}
    group.expires_from = fake.clock.now_ms()
    keep(fake, "g", "t", 0)
    keep(fake, "g", "u", 0)
    fake.scheduler.advance(2 * MINUTE_MS)
    assert fake.broker.groups.offsets.of("g").keys() == {"t"}


def test_a_retention_of_its_own_counts_instead(fake: FakeBroker) -> None:
    group = put(fake)
    group.expires_from = fake.clock.now_ms()
    keep(fake, "g", "t", 0, expires_ms=fake.clock.now_ms() + 5000)
    keep(fake, "g", "t", 1, expires_ms=fake.clock.now_ms() + 3 * MINUTE_MS)
    fake.scheduler.advance(4000)
    assert stored(fake) == 2
    fake.scheduler.advance(CHECK_MS)
    assert set(fake.broker.groups.offsets.of("g")["t"]) == {1}
    fake.scheduler.advance(2 * MINUTE_MS)
    assert stored(fake) == 1


def test_real_groups_expire_by_their_own_rules(fake: FakeBroker) -> None:
    """A simple one, made by its first commit, from the commit on."""
    fake.close()
    broker = FakeBroker(
        fake.store, offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000"
    )
    keep(broker, "g", "t", 0)
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


def test_they_are_looked_through_a_slice_at_a_time(fake: FakeBroker) -> None:
    fake.topic("wide", 2500)
    group = put(fake)
    group.expires_from = None
    keep(fake, "g", "wide", *range(2500))
    before = len(fake.scheduler.timers)
    fake.scheduler.advance(CHECK_MS)
    assert stored(fake) == 2500
    group.expires_from = 0
    fake.clock.look_ns = SLICE_NS
    counts = []
    while stored(fake):
        earlier = stored(fake)
        fake.scheduler.advance(PAUSE_MS)
        counts.append(earlier - stored(fake))
    assert max(counts) == expiry.ROWS_PER_STEP
    fake.scheduler.advance(CHECK_MS)
    assert fake.broker.groups.registry.find("g") is None
    assert len(fake.scheduler.timers) == before


def held(fake: FakeBroker) -> tuple[HeldOffsetRepository, Offsets]:
    """An expiry over a store that is slow."""
    repository = HeldOffsetRepository()
    groups = fake.broker.groups.registry
    offsets = Offsets(repository, groups, fake.broker.catalog, fake.broker.placement)
    repository.give_all()
    fake.broker.stop_upkeep()
    events = fake.events
    deleting = DeleteGroupsService(offsets, groups, events)
    background = Runner(fake.scheduler, fake.clock, fake.broker.commits)
    OffsetExpiry(offsets, groups, deleting, fake.clock, background, fake.config, events).start()
    return repository, offsets


def test_what_is_being_committed_is_left_for_the_next_round(fake: FakeBroker) -> None:
    repository, offsets = held(fake)
    group = put(fake)
    group.expires_from = 0
    one = committed(topic_id=fake.existing("t").topic_id)
    offsets.persist("g", [("g", "t", 0, one)], lambda failure: None)
    repository.keep()
    offsets.persist("g", [("g", "t", 0, one)], lambda failure: None)
    fake.scheduler.advance(CHECK_MS)
    assert len(repository.waiting) == 1
    repository.keep()
    fake.scheduler.advance(CHECK_MS)
    assert repository.keep() == [("g", "t", 0, None)]
    fake.run()
    assert fake.broker.groups.registry.find("g") is None


def test_a_commit_between_two_slices_keeps_its_group(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "OFFSETS_PER_STEP", 1)
    fake.clock.look_ns = SLICE_NS
    repository, offsets = held(fake)
    group = put(fake)
    group.expires_from = 0
    one = committed(topic_id=fake.existing("t").topic_id)
    offsets.persist("g", [("g", "t", n, one) for n in range(2)], lambda failure: None)
    repository.keep()
    fake.scheduler.advance(CHECK_MS)
    assert repository.keep() == [("g", "t", 0, None)]
    offsets.persist("g", [("g", "t", 0, one), ("g", "t", 3, one)], lambda failure: None)
    repository.keep()
    fake.scheduler.advance(PAUSE_MS)
    assert repository.keep() == [("g", "t", 1, None)]
    fake.scheduler.advance(PAUSE_MS)
    assert not repository.waiting
    assert fake.broker.groups.registry.find("g") is group
    assert set(offsets.of("g")["t"]) == {0, 3}


def test_before_all_is_loaded_nothing_expires(fake: FakeBroker) -> None:
    put(fake)
    fake.broker.groups.offsets.loaded = False
    fake.scheduler.advance(3 * CHECK_MS)
    assert fake.broker.groups.registry.find("g") is not None
    fake.broker.groups.offsets.loaded = True
    fake.scheduler.advance(CHECK_MS)
    assert fake.broker.groups.registry.find("g") is None


def test_after_the_stop_nothing_expires(fake: FakeBroker) -> None:
    put(fake)
    fake.broker.stop_upkeep()
    fake.scheduler.advance(10 * CHECK_MS)
    assert fake.broker.groups.registry.find("g") is not None


def test_a_group_is_asked_for_each_topic_and_not_for_each_offset(fake: FakeBroker) -> None:
    """It may have to look through thousands of members."""

    class Counting(GroupOfOneWord):
        asked = 0

        def offsets_expire_from(self, topic: str, committed_ms: int) -> int | None:
            self.asked += 1
            return committed_ms

    group = Counting("g")
    group.members = {"m": None}
    fake.broker.groups.registry.put(group)
    fake.topic("w", 500)
    keep(fake, "g", "t", 0, 1)
    keep(fake, "g", "w", *range(500))
    fake.scheduler.advance(CHECK_MS)
    assert group.asked == 2
    fake.scheduler.advance(MINUTE_MS)
    assert not fake.broker.groups.offsets.holds("g")
