"""What the log says of groups."""

from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS
from application.groups.group_log import NAMED_TOGETHER, PAUSE_MS
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import Leaving
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
from tests.unit.application.groups.test_consumer_protocol import beat, send

Line = dict[str, object]
GENERATION = "a generation of a group begins"
EPOCH = "an epoch of a group begins"
TAKEN_OUT = "a member is taken out of a group"
KIND = "a group changes its kind"


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(group_initial_rebalance_delay_ms="0")
    fake.topic("t", 2)
    return fake


def lines(fake: FakeBroker, event: str) -> list[Line]:
    fake.scheduler.advance(PAUSE_MS)
    return fake.events.of(event)


def keep_offsets(fake: FakeBroker, *partitions: int) -> None:
    fake.broker.groups.put(ClassicGroup("g"))
    one = committed(topic_id=fake.existing("t").topic_id, at_ms=fake.clock.now_ms())
    writes = [("g", "t", partition, one) for partition in partitions]
    fake.broker.offsets.keep("g", writes, lambda failure: None)
    fake.run()


# classic groups


def test_a_generation_has_a_line(fake: FakeBroker) -> None:
    stable(fake)
    assert lines(fake, GENERATION) == [
        {
            "group": "g",
            "generation": 1,
            "members": 1,
            "protocol": "range",
            "reason": "a member came",
        }
    ]


def test_a_generation_that_is_not_kept_has_none(fake: FakeBroker) -> None:
    service(fake).join_group(join_request())
    fake.commit.fail_next()
    fake.run()
    assert lines(fake, GENERATION) == []


def test_many_members_that_come_together_have_one_line(fake: FakeBroker) -> None:
    for _ in range(50):
        service(fake).join_group(join_request())
    fake.run()
    [line] = lines(fake, GENERATION)
    assert (line["members"], line["reason"]) == (50, "50 members came")


def test_who_leaves_is_a_reason_and_is_not_taken_out(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake.scheduler.advance(PAUSE_MS)
    service(fake).leave_group("g", [Leaving(member_id, None)])
    fake.run()
    line = lines(fake, GENERATION)[-1]
    assert (line["generation"], line["members"], line["reason"]) == (2, 0, "a member left")
    assert lines(fake, TAKEN_OUT) == []


def test_a_silent_member_is_named_with_its_client(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake.scheduler.advance(11_000)
    assert lines(fake, TAKEN_OUT) == [
        {
            "group": "g",
            "member": member_id,
            "client_id": "c",
            "host": "/h",
            "why": "was silent",
            "after_ms": 10_000,
        }
    ]
    assert lines(fake, GENERATION)[-1]["reason"] == "a member was silent"


def test_a_member_that_does_not_join_again_in_time_is_named(fake: FakeBroker) -> None:
    late = joined(fake, rebalance_timeout_ms=5_000)
    service(fake).sync_group(sync_request(late))
    service(fake).join_group(join_request(rebalance_timeout_ms=5_000))
    fake.scheduler.advance(6_000)
    [line] = lines(fake, TAKEN_OUT)
    assert (line["member"], line["why"], line["after_ms"]) == (late, "did not join again", 5_000)
    assert lines(fake, GENERATION)[-1]["reason"] == "a member came, a member did not join again"


def sync_request(member_id: str) -> SyncRequest:
    return SyncRequest("g", 1, member_id, None, None, None, {})


def test_a_member_that_never_asks_for_its_assignment_is_named(fake: FakeBroker) -> None:
    joined(fake, rebalance_timeout_ms=5_000)
    fake.scheduler.advance(6_000)
    [line] = lines(fake, TAKEN_OUT)
    assert line["why"] == "did not ask for its assignment"


def test_of_many_that_go_together_some_are_named_and_the_others_counted(fake: FakeBroker) -> None:
    for _ in range(30):
        service(fake).join_group(join_request(rebalance_timeout_ms=5_000))
    fake.run()
    fake.scheduler.advance(6_000)
    assert len(lines(fake, TAKEN_OUT)) == NAMED_TOGETHER
    assert lines(fake, "more members are taken out of a group") == [
        {"group": "g", "members": 30 - NAMED_TOGETHER}
    ]


# groups of the consumer protocol


def test_an_epoch_has_a_line(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    assert lines(fake, EPOCH) == [
        {"group": "g", "epoch": 1, "members": 1, "assignor": "uniform", "reason": "a member came"}
    ]


def test_a_line_waits_for_the_commit(fake: FakeBroker) -> None:
    fake.commit.hold()
    send(fake, "m", 0)
    fake.run()
    assert fake.events.of(EPOCH) == []
    fake.commit.let_go()
    assert len(fake.events.of(EPOCH)) == 1


def test_many_epochs_in_a_row_have_a_line_a_second(fake: FakeBroker) -> None:
    for number in range(50):
        beat(fake, f"m{number}", 0)
    first, second = lines(fake, EPOCH)
    assert (first["epoch"], first["reason"]) == (1, "a member came")
    assert (second["epoch"], second["members"]) == (50, 50)
    assert (second["epochs"], second["reason"]) == (49, "49 members came")


def test_who_leaves_a_modern_group_is_a_reason(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    fake.scheduler.advance(PAUSE_MS)
    beat(fake, "m", -1)
    line = lines(fake, EPOCH)[-1]
    assert (line["epoch"], line["members"], line["reason"]) == (2, 0, "a member left")


def test_a_silent_member_of_a_modern_group_is_named(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    fake.broker.group_coordinator.start()
    fake.scheduler.advance(46_000)
    [line] = lines(fake, TAKEN_OUT)
    assert (line["member"], line["why"], line["after_ms"]) == ("m", "was silent", 45_000)
    assert lines(fake, EPOCH)[-1]["reason"] == "a member was silent"


def test_topics_that_change_are_a_reason(fake: FakeBroker) -> None:
    beat(fake, "m", 0, topics=frozenset({"t", "u"}))
    fake.scheduler.advance(PAUSE_MS)
    fake.topic("u", 1)
    beat(fake, "m", 1)
    assert lines(fake, EPOCH)[-1]["reason"] == "topics changed"


def test_other_subscriptions_are_a_reason(fake: FakeBroker) -> None:
    fake.topic("u", 1)
    beat(fake, "m", 0)
    fake.scheduler.advance(PAUSE_MS)
    beat(fake, "m", 1, topics=frozenset({"t", "u"}))
    assert lines(fake, EPOCH)[-1]["reason"] == "a member wants other topics"


def test_a_line_that_waits_at_the_stop_is_not_lost(fake: FakeBroker) -> None:
    beat(fake, "m", 0)
    beat(fake, "n", 0)
    assert [line["epoch"] for line in fake.events.of(EPOCH)] == [1]
    fake.broker.stop_upkeep()
    assert [line["epoch"] for line in fake.events.of(EPOCH)] == [1, 2]
    beat(fake, "o", 0)
    assert [line["epoch"] for line in fake.events.of(EPOCH)] == [1, 2, 3]
    assert len(lines(fake, EPOCH)) == 3


# from one kind to the other


def test_a_group_that_changes_its_kind_has_a_line_each_way() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 4)
    events = kafka.events
    old, modern = classic(kafka), Modern(kafka)
    share_out(old)
    modern.join()
    assert events.of(KIND) == [
        {"group": "g", "kind": "consumer", "was": "classic", "epoch": 2, "members": 2}
    ]
    modern.say(-1)
    line = events.of(KIND)[-1]
    assert (line["kind"], line["was"], line["members"]) == ("classic", "consumer", 1)
    assert events.of(TAKEN_OUT) == []


# groups that end


def test_a_group_that_is_deleted_has_a_line(fake: FakeBroker) -> None:
    keep_offsets(fake, 0, 1)
    fake.broker.delete_groups.delete(["g"])
    fake.run()
    assert lines(fake, "a group is deleted") == [{"group": "g", "kind": "classic", "offsets": 2}]


def test_one_that_could_not_be_deleted_has_none(fake: FakeBroker) -> None:
    keep_offsets(fake, 0)
    fake.commit.fail_next()
    fake.broker.delete_groups.delete(["g"])
    fake.run()
    assert lines(fake, "a group is deleted") == []


def test_a_group_that_expires_has_a_line() -> None:
    fake = FakeBroker(offsets_retention_minutes="1", offsets_retention_check_interval_ms="1000")
    fake.topic("t", 2)
    fake.broker.start_upkeep()
    keep_offsets(fake, 0)
    fake.scheduler.advance(62_000)
    assert lines(fake, "a group expires") == [{"group": "g", "kind": "classic", "offsets": 1}]


def some_that_expire() -> FakeBroker:
    """Of each group one offset stays, because it has a retention of its own."""
    fake = FakeBroker(offsets_retention_minutes="1", offsets_retention_check_interval_ms="10000")
    fake.topic("t", 500)
    fake.broker.start_upkeep()
    keep_offsets(fake, *range(400))
    now_ms = fake.clock.now_ms()
    longer = committed(
        topic_id=fake.existing("t").topic_id, at_ms=now_ms, expires_ms=now_ms + 600_000
    )
    fake.broker.offsets.keep("g", [("g", "t", 450, longer)], lambda failure: None)
    fake.run()
    return fake


def test_offsets_that_expire_while_their_group_stays_have_one_line() -> None:
    fake = some_that_expire()
    fake.scheduler.advance(60_000)
    assert fake.events.of("offsets of a group expire") == []
    assert lines(fake, "offsets of a group expire") == [{"group": "g", "offsets": 400}]
    assert lines(fake, "a group expires") == []


def test_those_that_could_not_be_taken_away_have_none_yet() -> None:
    fake = some_that_expire()
    fake.scheduler.advance(55_000)
    fake.clock.look_ns = SLICE_NS
    fake.commit.fail_next()
    fake.scheduler.advance(6_000)
    assert lines(fake, "offsets of a group expire") == [{"group": "g", "offsets": 300}]
    fake.scheduler.advance(10_000)
    assert lines(fake, "offsets of a group expire")[1:] == [{"group": "g", "offsets": 100}]


def test_at_the_stop_they_have_theirs() -> None:
    fake = some_that_expire()
    fake.scheduler.advance(60_000)
    fake.broker.stop_upkeep()
    [line] = fake.events.of("offsets of a group expire")
    assert line["group"] == "g"
    fake.scheduler.advance(PAUSE_MS)
    assert len(fake.events.of("offsets of a group expire")) == 1
