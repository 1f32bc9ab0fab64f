"""Log events of groups."""

from __future__ import annotations

import pytest

from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.sync import SyncRequest
from tests.fakes.broker import FakeBroker
from tests.fakes.client import FakeKafka
from tests.fakes.groups import persist_offsets
from tests.fakes.mixed_group import Modern, classic, share_out
from tests.unit.application.groups.test_classic_protocol import (
    join,
    joined,
    result_of,
    service,
    stable,
)
from tests.unit.application.groups.test_consumer_protocol import beat

Line = dict[str, object]


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(group_initial_rebalance_delay_ms="0")
    fake.topic("t", 2)
    return fake


def rebalances(fake: FakeBroker | FakeKafka) -> list[Line]:
    return fake.events.of("group_rebalancing")


def epochs(fake: FakeBroker | FakeKafka) -> list[Line]:
    return fake.events.of("group_epoch_bumped")


def removals(fake: FakeBroker | FakeKafka) -> list[Line]:
    return fake.events.of("member_removed")


def test_members_that_join_in_one_rebalance_have_one_line(fake: FakeBroker) -> None:
    first = join(fake)
    for _ in range(49):
        join(fake)
    fake.run()
    [line] = rebalances(fake)
    assert line == {
        "group": "g",
        "generation": 0,
        "members": 1,
        "reason": "member_joined",
        "member_id": result_of(first).member_id,
    }
    assert removals(fake) == []


def test_the_line_of_an_empty_group_has_the_member_that_left(fake: FakeBroker) -> None:
    member_id = stable(fake)
    service(fake).leave_group("g", [LeavingMember(member_id, None)])
    fake.run()
    assert removals(fake) == [
        {
            "group": "g",
            "member_id": member_id,
            "client_id": "c",
            "host": "/h",
            "reason": "left",
        }
    ]
    assert fake.events.of("group_empty") == [
        {
            "group": "g",
            "generation": 1,
            "reason": "member_removed",
            "member_id": member_id,
        }
    ]


def test_a_stable_group_has_a_line_with_the_new_generation(fake: FakeBroker) -> None:
    stable(fake)
    [line] = fake.events.of("group_stabilized")
    assert line == {"group": "g", "generation": 1, "members": 1}
    assert [one["generation"] for one in rebalances(fake)] == [0]


def check_removal(fake: FakeBroker, member_id: str, reason: str) -> None:
    line = removals(fake)[0]
    assert (line["member_id"], line["reason"]) == (member_id, reason)


def test_the_line_of_a_removed_member_has_the_timeout(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake.scheduler.advance(11_000)
    check_removal(fake, member_id, "session_timeout")


def test_a_member_that_does_not_rejoin_is_removed_by_the_rebalance_timeout(
    fake: FakeBroker,
) -> None:
    late = joined(fake, rebalance_timeout_ms=5_000)
    service(fake).sync_group(SyncRequest("g", 1, late, None, None, None, {}))
    join(fake, rebalance_timeout_ms=5_000)
    fake.scheduler.advance(6_000)
    check_removal(fake, late, "rebalance_timeout")


def test_a_member_that_sends_no_sync_group_is_removed_by_the_sync_timeout(
    fake: FakeBroker,
) -> None:
    member_id = joined(fake, rebalance_timeout_ms=5_000)
    fake.scheduler.advance(6_000)
    check_removal(fake, member_id, "sync_timeout")


def test_a_static_member_that_returns_replaces_its_old_member_id(fake: FakeBroker) -> None:
    old = joined(fake, instance_id="i")
    new = joined(fake, instance_id="i")
    [line] = removals(fake)
    assert (line["member_id"], line["reason"], line["replaced_by"]) == (old, "replaced", new)


def test_each_group_epoch_has_a_line_with_its_reason(fake: FakeBroker) -> None:
    beat(fake, "m", 0, topics=frozenset({"t", "u"}))
    fake.topic("u", 1)
    beat(fake, "m", 1)
    beat(fake, "m", 2, topics=frozenset({"t"}))
    beat(fake, "m", -1)
    assert [(line["epoch"], line["members"], line["reason"]) for line in epochs(fake)] == [
        (1, 1, "member_joined"),
        (2, 1, "subscribed_topics_changed"),
        (3, 1, "subscription_changed"),
        (4, 0, "member_removed"),
    ]


def test_a_consumer_is_removed_by_its_session_timeout(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    fake.broker.groups.coordinator.start()
    fake.scheduler.advance(46_000)
    check_removal(fake, "m", "session_timeout")
    assert (epochs(fake)[-1]["reason"], epochs(fake)[-1]["member_id"]) == ("member_removed", "m")


def test_an_upgrade_and_a_downgrade_have_a_line_each() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 4)
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    upgraded = epochs(kafka)[-1]
    assert (upgraded["epoch"], upgraded["members"]) == (2, 2)
    assert upgraded["reason"] == "member_joined" and removals(kafka) == []
    modern.heartbeat(-1)
    downgraded = rebalances(kafka)[-1]
    assert (downgraded["generation"], downgraded["members"]) == (2, 1)
    assert [line["reason"] for line in removals(kafka)] == ["left"]


def test_a_deleted_group_has_a_line_once_it_is_durable(fake: FakeBroker) -> None:
    persist(fake, 0, 1)
    fake.commit.fail_next()
    fake.broker.groups.delete_groups.delete(["g"])
    fake.run()
    assert fake.events.of("group_deleted") == []
    fake.broker.groups.delete_groups.delete(["g"])
    fake.run()
    assert fake.events.of("group_deleted") == [{"group": "g", "reason": "requested"}]


def persist(fake: FakeBroker, *partitions: int, expires_ms: int | None = None) -> None:
    fake.broker.groups.registry.put(ClassicGroup("g"))
    persist_offsets(fake, "g", "t", *partitions, expires_ms=expires_ms)
    fake.run()


def expiring(partitions: int) -> FakeBroker:
    fake = FakeBroker(offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000")
    fake.topic("t", partitions)
    fake.broker.start_upkeep()
    return fake


def test_an_expired_group_has_a_line() -> None:
    fake = expiring(2)
    persist(fake, 0)
    fake.scheduler.advance(62_000)
    assert fake.events.of("offsets_expired") == [{"group": "g", "offsets": 1}]
    assert fake.events.of("group_deleted") == [{"group": "g", "reason": "expired"}]


def test_expired_offsets_are_counted_once_they_are_durable() -> None:
    fake = expiring(2)
    persist(fake, 0, 1)
    fake.scheduler.advance(59_000)
    fake.commit.fail_next()
    fake.scheduler.advance(6_000)
    assert fake.commit.failures == []
    assert fake.events.of("offsets_expired") == [{"group": "g", "offsets": 2}]


def test_expired_offsets_of_a_group_have_one_line() -> None:
    fake = expiring(500)
    persist(fake, *range(400))
    persist(fake, 450, expires_ms=fake.clock.now_ms() + 600_000)
    fake.scheduler.advance(65_000)
    assert fake.events.of("offsets_expired") == [{"group": "g", "offsets": 400}]
    assert fake.events.of("group_deleted") == []
