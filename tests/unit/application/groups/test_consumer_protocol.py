from __future__ import annotations

from typing import Any

import pytest

from application.ports.pending import Pending
from application.topics.create import NewTopic
from domain.errors import BrokerError, CoordinatorNotAvailable, GroupIdNotFound, UnknownMemberId
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import HeartbeatResult
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.group import GroupKind
from tests.fakes.broker import FakeBroker

SESSION_MS = 45_000


def send(broker: FakeBroker, member_id: str, epoch: int, **said: Any) -> Any:
    """The answer, or what it is waited for with."""
    if epoch == 0:
        said = {"rebalance_timeout_ms": 10_000, "topics": frozenset("t"), "owned": {}} | said
    heartbeat = Heartbeat(member_id, epoch, **said)
    return broker.broker.groups.coordinator.consumer_group_heartbeat(
        "g", heartbeat, members_make_ids=True
    )


def beat(broker: FakeBroker, member_id: str, epoch: int, **said: Any) -> HeartbeatResult:
    answer = send(broker, member_id, epoch, **said)
    if isinstance(answer, Pending):
        late: list[HeartbeatResult | BrokerError] = []
        answer.then(late.append)
        broker.run()
        [answer] = late
    assert isinstance(answer, HeartbeatResult), answer
    return answer


def group_of(broker: FakeBroker) -> ConsumerGroup:
    return ConsumerGroup.existing(broker.broker.groups.registry.find("g"), "g")


@pytest.fixture
def broker() -> FakeBroker:
    broker = FakeBroker()
    broker.topic("t", 2)
    return broker


# answers and commits


def test_an_answer_waits_for_the_commit_that_keeps_what_it_says(broker: FakeBroker) -> None:
    broker.commit.hold()
    late: list[object] = []
    send(broker, "m", 0).then(late.append)
    broker.run()
    assert late == []
    broker.commit.let_go()
    assert [type(one) for one in late] == [HeartbeatResult]


def test_a_heartbeat_that_changes_nothing_is_answered_at_once(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    before = broker.commit.count
    assert send(broker, "m", 1) == HeartbeatResult("m", 1)
    broker.run()
    assert broker.commit.count == before


def test_but_not_before_what_it_was_told_is_kept(broker: FakeBroker) -> None:
    broker.commit.hold()
    send(broker, "m", 0)
    assert isinstance(send(broker, "m", 1), Pending)


def test_what_could_not_be_kept_never_was(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.commit.fail_next()
    late: list[object] = []
    send(broker, "n", 0).then(late.append)
    send(broker, "m", 1).then(late.append)
    broker.run()
    assert [type(one) for one in late] == [CoordinatorNotAvailable] * 2
    assert set(group_of(broker).members) == {"m"}
    assert beat(broker, "m", 1).epoch == 1


def test_a_first_member_that_could_not_be_kept_leaves_no_group(broker: FakeBroker) -> None:
    broker.commit.fail_next()
    send(broker, "m", 0)
    broker.run()
    with pytest.raises(GroupIdNotFound):
        group_of(broker)


# silence


def test_a_silent_member_is_taken_out_when_its_session_ends(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.scheduler.advance(SESSION_MS - 1)
    assert not group_of(broker).is_empty
    broker.scheduler.advance(1)
    assert group_of(broker).is_empty
    with pytest.raises(UnknownMemberId):
        send(broker, "m", 1)


def test_a_heartbeat_begins_the_session_anew(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    for _ in range(5):
        broker.scheduler.advance(SESSION_MS - 1)
        beat(broker, "m", 1)
    assert not group_of(broker).is_empty


def test_a_group_may_have_a_session_timeout_and_a_heartbeat_interval_of_its_own(
    broker: FakeBroker,
) -> None:
    broker.broker.groups.configs.put(
        "g", {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "7000"}
    )
    assert broker.broker.groups.configs.of("g").consumer_heartbeat_interval_ms == 7000
    beat(broker, "m", 0)
    broker.scheduler.advance(49_999)
    assert not group_of(broker).is_empty
    broker.scheduler.advance(1)
    assert group_of(broker).is_empty


def test_who_does_not_give_up_its_partitions_in_time_is_taken_out(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    assert beat(broker, "m", 1).assignment is not None
    for _ in range(9):
        broker.scheduler.advance(1000)
        beat(broker, "m", 1)
    assert set(group_of(broker).members) == {"m", "n"}
    broker.scheduler.advance(1000)
    assert set(group_of(broker).members) == {"n"}
    told = beat(broker, "n", 2).assignment
    assert told is not None
    assert [sorted(ones) for ones in told.values()] == [[0, 1]]


def test_who_gave_them_up_has_time_again(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    left = beat(broker, "m", 1).assignment
    beat(broker, "m", 1, owned=left)
    broker.scheduler.advance(20_000)
    assert set(group_of(broker).members) == {"m", "n"}


def test_a_static_member_that_is_away_is_taken_out_when_its_session_ends(
    broker: FakeBroker,
) -> None:
    beat(broker, "m", 0, instance_id="i")
    beat(broker, "m", -2, instance_id="i")
    broker.scheduler.advance(SESSION_MS)
    assert group_of(broker).is_empty


# restarts


def test_after_a_restart_everybody_goes_on_where_it_was(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    before = group_of(broker)
    after = broker.restarted()
    assert group_of(after).currents == before.currents
    assert (group_of(after).epoch, group_of(after).target_epoch) == (2, 2)
    assert beat(after, "m", 1).assignment is not None


def test_after_a_restart_everybody_has_a_whole_session_to_be_heard_of(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.scheduler.advance(SESSION_MS - 1)
    after = broker.restarted()
    after.broker.start_upkeep()
    after.scheduler.advance(SESSION_MS - 1)
    assert not group_of(after).is_empty
    after.scheduler.advance(1)
    assert group_of(after).is_empty


def test_after_a_failed_commit_silence_counts_again(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.commit.fail_next()
    send(broker, "n", 0)
    broker.run()
    broker.scheduler.advance(SESSION_MS)
    assert group_of(broker).is_empty


def test_once_upkeep_has_stopped_nobody_is_taken_out(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.broker.stop_upkeep()
    broker.scheduler.advance(2 * SESSION_MS)
    assert not group_of(broker).is_empty


def test_epochs_go_on_where_they_were_when_everybody_has_left(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "m", -1)
    assert beat(broker.restarted(), "n", 0).epoch == 3


# topics and regular expressions


def test_a_topic_that_grows_reaches_the_members(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    topic = broker.existing("t")
    broker.broker.catalog.put(topic.grown((101, 102)))
    told = beat(broker, "m", 1).assignment
    assert told == {topic.topic_id: frozenset(range(4))}


def test_a_new_topic_that_a_regex_means_reaches_the_members(broker: FakeBroker) -> None:
    said = {"topics": None, "regex": "u.*"}
    assert beat(broker, "m", 0, **said).assignment == {}
    topic = broker.topic("u1", 1)
    assert beat(broker, "m", 1).assignment == {topic.topic_id: frozenset({0})}


def test_who_leaves_in_between_does_not_hide_a_new_topic(broker: FakeBroker) -> None:
    beat(broker, "m", 0, topics=None, regex="u.*")
    beat(broker, "n", 0)
    topic = broker.topic("u1", 1)
    beat(broker, "n", -1)
    assert beat(broker, "m", 1).assignment == {topic.topic_id: frozenset({0})}


def test_who_joins_with_a_regex_over_many_topics_gets_them_later(broker: FakeBroker) -> None:
    for start in range(0, 3000, 500):
        new = [NewTopic(f"many-topics-{i}", 1, configs={}) for i in range(start, start + 500)]
        broker.broker.topics.create_topics.create(new, validate_only=False)
        broker.run()
    late: list[HeartbeatResult] = []
    send(broker, "m", 0, topics=None, regex="many.*[05]").then(late.append)
    broker.scheduler.run_pass()
    assert late == [HeartbeatResult("m", 1, {})]
    epoch = group_of(broker).epoch
    broker.run()
    assert group_of(broker).epoch == epoch + 1
    assignment = beat(broker, "m", 1).assignment
    assert assignment is not None and len(assignment) == 600
    assert beat(broker, "m", 2) == HeartbeatResult("m", 2)


def test_other_configs_are_no_reason_to_look_at_topics(broker: FakeBroker) -> None:
    epoch = beat(broker, "m", 0, topics=None, regex="t.*").epoch
    seen = group_of(broker).seen_revision
    broker.broker.catalog.reconfigured()
    assert broker.broker.catalog.revision > seen
    beat(broker, "m", epoch)
    assert group_of(broker).seen_revision == seen == broker.broker.catalog.layout_revision


# groups of the other kind


def test_an_empty_classic_group_is_replaced(broker: FakeBroker) -> None:
    broker.broker.groups.registry.put(ClassicGroup("g"))
    beat(broker, "m", 0)
    assert group_of(broker).kind is GroupKind.CONSUMER


def test_only_a_member_that_joins_replaces_it(broker: FakeBroker) -> None:
    broker.broker.groups.registry.put(ClassicGroup("g"))
    with pytest.raises(GroupIdNotFound, match="Group g is not a consumer group"):
        send(broker, "m", 1)
    with pytest.raises(GroupIdNotFound, match="Group g is not a consumer group"):
        send(broker, "m", -1)
