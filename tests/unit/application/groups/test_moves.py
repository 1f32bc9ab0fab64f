from __future__ import annotations

from typing import Any

import pytest

from application.groups.offset_commit import OffsetCommit
from application.state.runtime import ignore
from domain.cluster.nodes import Leader
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.group import NO_EPOCH
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from tests.fakes.classic_members import Member, join_all, leader_of, stable
from tests.fakes.client import FakeClient
from tests.fakes.groups import committed, stored_offsets
from tests.fakes.offset_requests import at, commit, offset_commit, offsets_of
from tests.fakes.structs import request_for
from tests.fakes.two_brokers import OneOfTwo, TwoBrokers

NOT_AVAILABLE, NOT_COORDINATOR, REBALANCING = 15, 16, 27
HOUR_MS = 3_600_000


@pytest.fixture
def two() -> TwoBrokers:
    return TwoBrokers()


def on(broker: OneOfTwo, member: Member) -> Member:
    """The same member, which has found another coordinator."""
    found = Member(broker, member.group_id, **member.facts)
    found.member_id, found.generation_id = member.member_id, member.generation_id
    return found


def beat(client: FakeClient, member_id: str, epoch: int, **fields: Any) -> Any:
    joining = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["t"]}
    if epoch == 0:
        fields = {**joining, "topic_partitions": [], **fields}
    request = request_for(
        "consumer_group_heartbeat", group_id="g", member_id=member_id, member_epoch=epoch, **fields
    )
    return client.request(request, 1)


def rows(broker: OneOfTwo) -> dict[str, dict[bytes, bytes]]:
    return {name: dict(found) for name, found in broker.store.tables.items()}


# members


def test_classic_members_continue_in_their_generation_on_another_node_and_back(
    two: TwoBrokers,
) -> None:
    members = [Member(two.first), Member(two.first)]
    stable(two.first, *members)
    two.move(2)
    assert [one.heartbeat() for one in members] == [NOT_COORDINATOR] * 2
    there = [on(two.second, one) for one in members]
    assert [one.heartbeat() for one in there] == [0, 0]
    assert there[0].sync().assignment == members[0].member_id.encode()
    two.move(1)
    assert [one.heartbeat() for one in there] == [NOT_COORDINATOR] * 2
    assert [one.heartbeat() for one in members] == [0, 0]


def test_consumer_members_keep_their_epoch_and_partitions(two: TwoBrokers) -> None:
    here, there = two.first.client(), two.second.client()
    joined = beat(here, "m", 0)
    two.move(2)
    assert beat(here, "m", joined.member_epoch).error_code == NOT_COORDINATOR
    continued = beat(there, "m", joined.member_epoch, **_full(joined))
    assert (continued.error_code, continued.member_epoch) == (0, joined.member_epoch)
    assert continued.assignment == joined.assignment
    grown = beat(there, "n", 0)
    two.move(1)
    assert beat(here, "n", grown.member_epoch).member_epoch == grown.member_epoch
    group = ConsumerGroup.existing(two.first.broker.groups.registry.find("g"), "g")
    assert (set(group.members), group.epoch) == ({"m", "n"}, grown.member_epoch)


def _full(joined: Any) -> dict[str, Any]:
    """A heartbeat with all fields gets the whole assignment."""
    owned = [
        {"topic_id": one.topic_id, "partitions": one.partitions}
        for one in joined.assignment.topic_partitions
    ]
    return {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["t"],
        "topic_partitions": owned,
    }


def test_requests_that_wait_for_other_members_fail(two: TwoBrokers) -> None:
    members = [Member(two.first), Member(two.first)]
    join_all(*members)
    [follower] = [one for one in members if one.member_id != leader_of(two.first)]
    follower.begin_sync()
    newcomer = Member(two.first)
    newcomer.begin_join()
    assert follower.response().error_code == REBALANCING
    assert newcomer.waits
    follower.begin_join()
    two.lose(2)
    assert newcomer.response().error_code == NOT_COORDINATOR
    assert follower.response().error_code == NOT_COORDINATOR
    assert two.first.broker.groups.coordinator.pending_requests == 0


def test_members_get_a_whole_session_from_the_new_coordinator(two: TwoBrokers) -> None:
    member = Member(two.first)
    stable(two.first, member)
    session_ms = 10_000
    for node_id in (2, 1, 2):
        two.first.scheduler.advance(session_ms - 1)
        two.move(node_id)
    there = on(two.second, member)
    two.second.scheduler.advance(session_ms - 1)
    assert there.heartbeat() == 0
    two.second.scheduler.advance(session_ms)
    assert there.heartbeat() != 0


def test_nothing_is_persisted_where_the_group_was() -> None:
    two = TwoBrokers(offsets_retention_minutes="1", offsets_retention_check_interval_ms="60000")
    two.first.broker.start_upkeep()
    stable(two.first, Member(two.first))
    beat(two.first.client(), "m", 0)
    commit(two.first.client(), "h", ("t", [at(0)]))
    two.lose(2)
    before = rows(two.first)
    assert not list(two.first.broker.groups.registry)
    two.first.scheduler.advance(HOUR_MS)
    assert rows(two.first) == before
    two.gain(2)
    assert {one.group_id for one in two.second.broker.groups.registry} == {"g", "h"}


# offsets


def test_offsets_are_those_that_the_other_broker_has_committed(two: TwoBrokers) -> None:
    here, there = two.first.client(), two.second.client()
    commit(here, "g", ("t", [at(0, 5), at(1, 6)]))
    two.move(2)
    assert offsets_of(there, "g") == {"t": {0: 5, 1: 6}}
    assert commit(here, "g", ("t", [at(0, 9)])) == {"t": [(0, NOT_COORDINATOR)]}
    commit(there, "g", ("t", [at(0, 7)]))
    two.move(1)
    assert offsets_of(here, "g") == {"t": {0: 7, 1: 6}}


def test_offsets_of_deleted_topics_are_removed_by_the_next_coordinator(two: TwoBrokers) -> None:
    commit(two.first.client(), "g", ("t", [at(0, 5)]))
    two.lose(2)
    for broker in (two.first, two.second):
        broker.broker.start_upkeep()
        broker.broker.catalog.remove(broker.existing())
        broker.broker.groups.offset_cleanup.forget([])
    two.first.scheduler.advance(1000)
    assert stored_offsets(two.first) == 1
    two.gain(2, [OFFSETS_TOPIC])
    two.second.scheduler.advance(1000)
    assert stored_offsets(two.first) == 0


def test_rows_that_wait_for_their_deletion_are_left_to_the_next_coordinator(
    two: TwoBrokers,
) -> None:
    commit(two.first.client(), "g", ("t", [at(0, 5)]))
    two.first.broker.groups.offset_cleanup.forget([two.first.existing()])
    assert len(two.first.broker.groups.offset_cleanup) == 1
    two.lose(2)
    two.first.scheduler.advance(1000)
    assert stored_offsets(two.first) == 1
    assert len(two.first.broker.groups.offset_cleanup) == 0


# commits that end later


@pytest.mark.parametrize("fails", [False, True])
def test_a_commit_that_ends_after_the_move_brings_nothing_back(
    two: TwoBrokers, fails: bool
) -> None:
    here = two.first.client()
    commit(here, "g", ("t", [at(0, 5)]))
    member = Member(two.first, "h")
    member.fetch_id()
    two.first.commit.hold()
    member.begin_join()
    here.send(offset_commit("g", ("t", [at(0, 6)])), 9)
    two.first.run()
    two.lose(2)
    assert member.response().error_code == NOT_COORDINATOR
    if fails:
        two.first.commit.let_fail()
    else:
        two.first.commit.let_go()
    two.first.run()
    [response] = here.responses()
    assert response.topics[0].partitions[0].error_code == (NOT_AVAILABLE if fails else 0)
    groups = two.first.broker.groups
    assert not list(groups.registry) and not groups.offsets.group_ids()
    two.gain(2)
    assert offsets_of(two.second.client(), "g") == {"t": {0: 5 if fails else 6}}


def test_a_commit_that_fails_after_the_move_and_back_loses_later_changes_only_once(
    two: TwoBrokers,
) -> None:
    here = two.first.client()
    commit(here, "g", ("t", [at(0, 5)]))
    two.first.commit.hold()
    here.send(offset_commit("g", ("t", [at(0, 6)])), 9)
    two.first.run()
    two.lose(2)
    two.gain(1)
    two.first.commit.let_fail()
    two.first.run()
    assert here.responses()[0].topics[0].partitions[0].error_code == NOT_AVAILABLE
    assert commit(here, "g", ("t", [at(0, 7)])) == {"t": [(0, 0)]}
    assert offsets_of(here, "g") == {"t": {0: 7}}


# offsets of open transactions

PRODUCER = 7


def add(broker: OneOfTwo, group_id: str, offset: int) -> None:
    """Stages an offset in a transaction."""
    one = committed(offset, topic_id=broker.existing().topic_id, at_ms=broker.clock.now_ms())
    groups = broker.broker.groups
    groups.transactional_offsets.check(OffsetCommit(group_id, "", None, NO_EPOCH))
    groups.transactional_offsets.add(group_id, PRODUCER, [(group_id, "t", 0, one)], ignore)


def pending_of(broker: OneOfTwo) -> dict[str, int]:
    found = broker.broker.groups.offsets.pending.of(PRODUCER)
    return {place[0]: one.offset for place, one in found.items()}


def test_offsets_of_a_transaction_move_with_their_groups(two: TwoBrokers) -> None:
    assert [partition_of(one, 2) for one in "gh"] == [1, 0]
    for group_id in "gh":
        add(two.first, group_id, 5)
    two.first.run()
    moved = two.first.existing(OFFSETS_TOPIC).partition_ids[partition_of("h", 2)]
    for broker in (two.first, two.second):
        broker.placement.move(moved, Leader(2, 1))
    assert (pending_of(two.first), pending_of(two.second)) == ({"g": 5}, {"h": 5})
    assert {one.group_id for one in two.second.broker.groups.registry} == {"h"}
    transactional = two.second.broker.groups.transactional_offsets
    transactional.complete(PRODUCER, ["h"], committed=True)
    two.second.run()
    assert offsets_of(two.second.client(), "h") == {"t": {0: 5}}


@pytest.mark.parametrize("fails", [False, True])
def test_an_offset_of_a_transaction_in_flight_is_not_brought_back(
    two: TwoBrokers, fails: bool
) -> None:
    add(two.first, "g", 5)
    two.first.run()
    two.first.commit.hold()
    add(two.first, "g", 6)
    two.first.run()
    two.lose(2)
    if fails:
        two.first.commit.let_fail()
    else:
        two.first.commit.let_go()
    two.first.run()
    assert pending_of(two.first) == {} and not list(two.first.broker.groups.registry)
    two.gain(2)
    assert pending_of(two.second) == {"g": 5 if fails else 6}
