"""What the log says of groups."""

from __future__ import annotations

import pytest

from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.sync import SyncRequest
from tests.fakes.broker import FakeBroker
from tests.fakes.client import FakeKafka
from tests.fakes.groups import committed
from tests.fakes.mixed_group import Modern, classic, share_out
from tests.unit.application.groups.test_classic_protocol import (
    join_request,
    joined,
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


def keep_offsets(fake: FakeBroker, *partitions: int) -> None:
    fake.broker.groups.registry.put(ClassicGroup("g"))
    one = committed(topic_id=fake.existing("t").topic_id, at_ms=fake.clock.now_ms())
    writes = [("g", "t", partition, one) for partition in partitions]
    fake.broker.groups.offsets.persist("g", writes, lambda failure: None)
    fake.run()


# classic groups


def test_many_members_that_join_together_have_one_line(fake: FakeBroker) -> None:
    first = service(fake).join_group(join_request())
    for _ in range(49):
        service(fake).join_group(join_request())
    fake.run()
    [line] = rebalances(fake)
    member_id = first._value.member_id  # type: ignore[union-attr]
    assert line == {
        "group": "g",
        "generation": 0,
        "members": 1,
        "reason": "member_joined",
        "member_id": member_id,
    }
    assert removals(fake) == []


def test_a_member_that_leaves_is_removed_and_is_the_reason(fake: FakeBroker) -> None:
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


def test_the_end_of_a_rebalance_has_a_line_with_the_new_generation(fake: FakeBroker) -> None:
    stable(fake)
    [line] = fake.events.of("group_stabilized")
    assert line == {"group": "g", "generation": 1, "members": 1}
    assert [one["generation"] for one in rebalances(fake)] == [0]


def test_a_member_that_is_silent_is_removed_by_its_session_timeout(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake.scheduler.advance(11_000)
    [line] = removals(fake)
    assert (line["member_id"], line["reason"]) == (member_id, "session_timeout")


def test_a_member_that_does_not_join_again_is_removed_by_the_rebalance_timeout(
    fake: FakeBroker,
) -> None:
    late = joined(fake, rebalance_timeout_ms=5_000)
    service(fake).sync_group(SyncRequest("g", 1, late, None, None, None, {}))
    service(fake).join_group(join_request(rebalance_timeout_ms=5_000))
    fake.scheduler.advance(6_000)
    line = removals(fake)[0]
    assert (line["member_id"], line["reason"]) == (late, "rebalance_timeout")


def test_a_member_that_sends_no_sync_group_is_removed_by_the_sync_timeout(
    fake: FakeBroker,
) -> None:
    joined(fake, rebalance_timeout_ms=5_000)
    fake.scheduler.advance(6_000)
    assert [line["reason"] for line in removals(fake)] == ["sync_timeout"]


def test_a_static_member_that_returns_replaces_the_old_one(fake: FakeBroker) -> None:
    old = joined(fake, instance_id="i")
    new = joined(fake, instance_id="i")
    [line] = removals(fake)
    assert (line["member_id"], line["reason"], line["replaced_by"]) == (old, "replaced", new)


# groups of the consumer protocol


def test_each_epoch_has_a_line_with_its_reason(fake: FakeBroker) -> None:
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


def test_a_consumer_that_is_silent_is_removed_by_its_session_timeout(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    fake.broker.groups.coordinator.start()
    fake.scheduler.advance(46_000)
    [line] = removals(fake)
    assert (line["member_id"], line["reason"]) == ("m", "session_timeout")
    assert (epochs(fake)[-1]["reason"], epochs(fake)[-1]["member_id"]) == ("member_removed", "m")


# from one kind to the other


def test_a_group_that_changes_its_kind_has_a_line_each_way() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 4)
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    upgraded = epochs(kafka)[-1]
    assert (upgraded["epoch"], upgraded["members"]) == (2, 2)
    assert upgraded["reason"] == "member_joined" and removals(kafka) == []
    modern.say(-1)
    downgraded = rebalances(kafka)[-1]
    assert (downgraded["generation"], downgraded["members"]) == (2, 1)
    assert [line["reason"] for line in removals(kafka)] == ["left"]


# groups that end


def test_a_group_that_is_deleted_has_a_line(fake: FakeBroker) -> None:
    keep_offsets(fake, 0, 1)
    fake.broker.groups.delete_groups.delete(["g"])
    assert fake.events.of("group_deleted") == [{"group": "g", "reason": "requested"}]


def test_a_group_that_expires_has_a_line() -> None:
    fake = FakeBroker(offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000")
    fake.topic("t", 2)
    fake.broker.start_upkeep()
    keep_offsets(fake, 0)
    fake.scheduler.advance(62_000)
    assert fake.events.of("offsets_expired") == [{"group": "g", "offsets": 1}]
    assert fake.events.of("group_deleted") == [{"group": "g", "reason": "expired"}]


def test_offsets_that_expire_while_their_group_stays_have_one_line() -> None:
    fake = FakeBroker(offsets_retention_minutes="1", offsets_retention_check_interval_ms="10000")
    fake.topic("t", 500)
    fake.broker.start_upkeep()
    keep_offsets(fake, *range(400))
    now_ms = fake.clock.now_ms()
    longer = committed(
        topic_id=fake.existing("t").topic_id, at_ms=now_ms, expires_ms=now_ms + 600_000
    )
    fake.broker.groups.offsets.persist("g", [("g", "t", 450, longer)], lambda failure: None)
    fake.scheduler.advance(65_000)
    assert fake.events.of("offsets_expired") == [{"group": "g", "offsets": 400}]
    assert fake.events.of("group_deleted") == []
