from __future__ import annotations

from typing import Any

import pytest

from application.ports.pending import Pending
from application.topics.create import NewTopic
from domain.errors import CoordinatorNotAvailable, GroupIdNotFound, NotCoordinator, UnknownMemberId
from domain.groups.classic.group import ClassicGroup
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import HeartbeatResult
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.group import GroupKind
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of

SESSION_MS = 45_000


def send(broker: FakeBroker, member_id: str, epoch: int, **fields: Any) -> Any:
    """The response, or a Pending."""
    if epoch == 0:
        joining = {"rebalance_timeout_ms": 10_000, "topics": frozenset("t"), "owned": {}}
        fields = joining | fields
    heartbeat = Heartbeat(member_id, epoch, **fields)
    return broker.broker.groups.coordinator.consumer_group_heartbeat(
        "g", heartbeat, members_make_ids=True
    )


def beat(broker: FakeBroker, member_id: str, epoch: int, **fields: Any) -> HeartbeatResult:
    pending = send(broker, member_id, epoch, **fields)
    broker.run()
    [response] = results_of(pending)
    assert isinstance(response, HeartbeatResult), response
    return response


def group_of(broker: FakeBroker) -> ConsumerGroup:
    return ConsumerGroup.existing(broker.broker.groups.registry.find("g"), "g")


def check_session_ends(broker: FakeBroker, in_ms: int = SESSION_MS) -> None:
    broker.scheduler.advance(in_ms - 1)
    assert not group_of(broker).is_empty
    broker.scheduler.advance(1)
    assert group_of(broker).is_empty


@pytest.fixture
def broker() -> FakeBroker:
    return with_topic(2)


# responses and commits


def test_a_response_is_sent_with_the_commit_of_its_changes(broker: FakeBroker) -> None:
    broker.commit.hold()
    pending = send(broker, "m", 0)
    broker.run()
    assert results_of(pending) == []
    assert isinstance(send(broker, "m", 1), Pending)
    broker.commit.let_go()
    assert pending.resolved


def test_a_heartbeat_without_changes_gets_its_response_at_once(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    before = broker.commit.count
    assert send(broker, "m", 1) == HeartbeatResult("m", 1)
    broker.run()
    assert broker.commit.count == before


def test_a_failed_commit_fails_pending_requests_and_restores_the_group(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.commit.fail_next()
    pending = [send(broker, "n", 0), send(broker, "m", 1)]
    broker.run()
    assert [type(*results_of(one)) for one in pending] == [CoordinatorNotAvailable] * 2
    assert set(group_of(broker).members) == {"m"}
    assert beat(broker, "m", 1).epoch == 1
    check_session_ends(broker)


def test_a_first_member_that_is_not_persisted_leaves_no_group(broker: FakeBroker) -> None:
    broker.commit.fail_next()
    send(broker, "m", 0)
    broker.run()
    with pytest.raises(GroupIdNotFound):
        group_of(broker)


# timeouts


def test_a_member_is_removed_at_its_session_timeout(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    check_session_ends(broker)
    with pytest.raises(UnknownMemberId):
        send(broker, "m", 1)


def test_a_heartbeat_renews_the_session(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    for _ in range(5):
        broker.scheduler.advance(SESSION_MS - 1)
        beat(broker, "m", 1)
    assert not group_of(broker).is_empty


def test_no_session_ends_while_the_broker_has_no_lease(broker: FakeBroker) -> None:
    """No heartbeat is served, and the members may have another coordinator."""
    beat(broker, "m", 0)
    broker.placement.has_lease = False
    broker.scheduler.advance(3 * SESSION_MS)
    with pytest.raises(NotCoordinator):
        send(broker, "m", 1)
    broker.broker.groups.coordinator.hold()
    broker.placement.has_lease = True
    broker.scheduler.advance(SESSION_MS)
    broker.broker.groups.coordinator.resume()
    check_session_ends(broker)


def test_a_group_can_have_its_own_session_timeout_and_heartbeat_interval(
    broker: FakeBroker,
) -> None:
    broker.broker.groups.configs.put(
        "g", {"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "7000"}
    )
    assert broker.broker.groups.configs.of("g").consumer_heartbeat_interval_ms == 7000
    beat(broker, "m", 0)
    check_session_ends(broker, 50_000)


def test_a_member_that_does_not_revoke_partitions_in_time_is_removed(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    assert beat(broker, "m", 1).assignment is not None
    for _ in range(9):
        broker.scheduler.advance(1000)
        beat(broker, "m", 1)
    assert set(group_of(broker).members) == {"m", "n"}
    broker.scheduler.advance(1000)
    assert set(group_of(broker).members) == {"n"}
    assignment = beat(broker, "n", 2).assignment
    assert assignment is not None
    assert [sorted(ones) for ones in assignment.values()] == [[0, 1]]


def test_a_member_that_revoked_its_partitions_has_no_rebalance_timeout(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    left = beat(broker, "m", 1).assignment
    beat(broker, "m", 1, owned=left)
    broker.scheduler.advance(20_000)
    assert set(group_of(broker).members) == {"m", "n"}


def test_a_static_member_that_left_is_removed_at_its_session_timeout(broker: FakeBroker) -> None:
    beat(broker, "m", 0, instance_id="i")
    beat(broker, "m", -2, instance_id="i")
    check_session_ends(broker)


# restarts


def test_after_a_restart_members_keep_assignments_and_epochs(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "n", 0)
    before = group_of(broker)
    after = broker.restarted()
    assert group_of(after).currents == before.currents
    assert (group_of(after).epoch, group_of(after).target_epoch) == (2, 2)
    assert beat(after, "m", 1).assignment is not None


def test_after_a_restart_members_have_a_whole_session(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.scheduler.advance(SESSION_MS - 1)
    after = broker.restarted()
    after.broker.start_upkeep()
    check_session_ends(after)


def test_a_stopping_broker_removes_no_member(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    broker.broker.stop_upkeep()
    broker.scheduler.advance(2 * SESSION_MS)
    assert not group_of(broker).is_empty


def test_an_empty_group_keeps_its_epoch_after_a_restart(broker: FakeBroker) -> None:
    beat(broker, "m", 0)
    beat(broker, "m", -1)
    assert beat(broker.restarted(), "n", 0).epoch == 3


# topics and regular expressions


@pytest.mark.parametrize("other_leaves", [False, True])
def test_a_new_topic_that_matches_a_regex_is_assigned(
    broker: FakeBroker, other_leaves: bool
) -> None:
    assert beat(broker, "m", 0, topics=None, regex="u.*").assignment == {}
    if other_leaves:
        beat(broker, "n", 0)
    topic = broker.topic("u1", 1)
    if other_leaves:
        beat(broker, "n", -1)
    assert beat(broker, "m", 1).assignment == {topic.topic_id: frozenset({0})}


def test_a_regex_over_many_topics_is_resolved_after_the_join(broker: FakeBroker) -> None:
    for start in range(0, 3000, 500):
        new = [NewTopic(f"many-topics-{i}", 1, configs={}) for i in range(start, start + 500)]
        broker.broker.topics.create_topics.create(new, validate_only=False)
        broker.run()
    pending = send(broker, "m", 0, topics=None, regex="many.*[05]")
    broker.scheduler.run_pass()
    assert results_of(pending) == [HeartbeatResult("m", 1, {})]
    epoch = group_of(broker).epoch
    broker.run()
    assert group_of(broker).epoch == epoch + 1
    assignment = beat(broker, "m", 1).assignment
    assert assignment is not None and len(assignment) == 600
    assert beat(broker, "m", 2) == HeartbeatResult("m", 2)


def test_altered_topic_configs_do_not_resolve_regexes_again(broker: FakeBroker) -> None:
    epoch = beat(broker, "m", 0, topics=None, regex="t.*").epoch
    seen = group_of(broker).seen_revision
    broker.broker.catalog.reconfigured()
    assert broker.broker.catalog.revision > seen
    beat(broker, "m", epoch)
    assert group_of(broker).seen_revision == seen == broker.broker.catalog.layout_revision


def test_a_join_replaces_an_empty_classic_group(broker: FakeBroker) -> None:
    broker.broker.groups.registry.put(ClassicGroup("g"))
    for epoch in (1, -1):
        with pytest.raises(GroupIdNotFound, match="is not a consumer group"):
            send(broker, "m", epoch)
    beat(broker, "m", 0)
    assert group_of(broker).kind is GroupKind.CONSUMER
