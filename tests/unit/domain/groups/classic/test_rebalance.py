"""Generations: syncs, timeouts, leaders, persisted state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.groups.classic.changes import SessionsStarted
from domain.groups.classic.rebalance import expire
from domain.groups.classic.states import TRANSITIONS, Event, State, next_state
from tests.fakes.classic_group import WALL_MS, PlayedGroup


def two_members(**static: Any) -> PlayedGroup:
    """Stable members `a` and `b`; `a` leads."""
    group = PlayedGroup()
    for member_id in ("a", "b"):
        group.join(new_id=member_id, **{"session_ms": 150_000, **static.get(member_id, {})})
    group.run_timers()
    group.sync("b", 1)
    group.sync("a", 1)
    assert group.state == "Stable"
    return group


def test_the_longest_rebalance_timeout_of_all_members_applies() -> None:
    group = two_members(a={"rebalance_ms": 5000}, b={"rebalance_ms": 20_000})
    again = group.join("a", rebalance_ms=5000, session_ms=60_000)
    group.advance(19_999)
    assert group.is_pending(again)
    group.advance(1)
    assert group.joined(again).generation_id == 2
    assert set(group.group.members) == {"a"}


def test_a_leader_that_does_not_rejoin_is_removed_and_replaced() -> None:
    group = PlayedGroup()
    group.stable("a", "b", "c", session_ms=100_000)
    b, c = group.join("b", protocols=(("range", b"n"),)), group.join("c")
    group.advance(60_000)
    assert group.joined(b).leader == group.joined(c).leader == "b"
    assert [one[0] for one in group.joined(b).members] == ["b", "c"]


def test_a_static_member_that_does_not_rejoin_stays_but_does_not_lead() -> None:
    group = two_members(a={"instance_id": "i"})
    again = group.join("b", protocols=(("range", b"new"),))
    group.advance(60_000)
    response = group.joined(again)
    members = [one[:2] for one in response.members]
    assert (response.leader, members) == ("b", [("a", "i"), ("b", None)])


def test_static_members_that_do_not_rejoin_are_removed_at_their_session_timeout() -> None:
    group = two_members(a={"instance_id": "i"})
    group.leave(("b", None))
    group.advance(149_999)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"a"})
    group.advance(1)
    assert (group.state, group.group.generation_id) == ("Empty", 2)


@pytest.mark.parametrize("rebalance_ms", [-1, 0, 1])
def test_a_rebalance_without_any_join_is_extended(rebalance_ms: int) -> None:
    group = two_members(a={}, b={"instance_id": "i", "rebalance_ms": rebalance_ms})
    group.leave(("a", None))
    group.now_ms += max(rebalance_ms, 0)
    group.carry_out(expire(group.group, group.now, group.limits))
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"b"})
    assert group.group.next_deadline() == group.now_ms + 1000


def test_a_member_is_removed_at_its_session_timeout_and_the_others_rejoin() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.advance(9999)
    group.renew("b")
    group.advance(1)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"b"})
    assert group.group.leader == "b"


def test_a_group_without_heartbeats_becomes_empty() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.advance(10_000)
    assert (group.state, group.group.generation_id) == ("Empty", 2)
    assert group.persisted[-1] == group.group.image(WALL_MS + 10_000)
    assert group.group.next_deadline() is None


def test_the_session_of_a_member_that_waits_starts_with_its_response() -> None:
    group = PlayedGroup()
    group.stable("a", "b", session_ms=30_000)
    waiting = group.join("a", session_ms=30_000)
    for _ in range(4):
        group.advance(14_000)
        group.renew("b")
    assert group.is_pending(waiting)
    group.join("b", session_ms=30_000)
    assert group.joined(waiting).generation_id == 2
    group.advance(29_999)
    assert set(group.group.members) == {"a", "b"}


def test_a_member_that_does_not_sync_is_removed_after_the_rebalance_timeout() -> None:
    group = PlayedGroup()
    group.generation("a", "b", "c", session_ms=200_000)
    group.sync("a", 1, b=b"!")
    group.sync("b", 1)
    assert group.state == "Stable"
    group.advance(59_999)
    assert group.state == "Stable"
    group.advance(1)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"a", "b"})


def test_a_leader_that_does_not_sync_is_removed_and_the_others_rejoin() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    waiting = group.sync("b", 1)
    group.advance(60_000)
    assert group.error_of(waiting) == "RebalanceInProgress"
    again = group.join("b")
    assert group.joined(again).leader == "b"


def no_heartbeat(group: PlayedGroup) -> None:
    group.advance(10_000)


def no_assignment(group: PlayedGroup) -> None:
    for _ in range(6):
        group.renew("a")
        group.advance(5000)


def new_member(group: PlayedGroup) -> None:
    for _ in range(3):
        group.advance(5000)
        group.renew("a")
    group.join(new_id="d", rebalance_ms=30_000)
    group.run_timers()


@pytest.mark.parametrize(
    ("event", "members"),
    [(no_heartbeat, "bc"), (no_assignment, "bc"), (new_member, "abcd")],
)
def test_members_that_wait_for_the_assignment_keep_their_sessions(
    event: Callable[[PlayedGroup], None], members: str
) -> None:
    group = PlayedGroup()
    group.generation("a", "b", "c", session_ms=10_000, rebalance_ms=30_000)
    pending = [group.sync(one, 1) for one in ("b", "c")]
    event(group)
    assert set(group.group.members) == set(members)
    assert [group.error_of(one) for one in pending] == ["RebalanceInProgress"] * 2
    assert group.state == "PreparingRebalance"
    group.advance(9999)  # they have a whole session to rejoin
    again = [group.join(one, rebalance_ms=30_000) for one in ("b", "c")]
    group.advance(30_000)
    assert [group.joined(one).generation_id for one in again] == [2, 2]


def test_the_metadata_of_a_group_is_limited() -> None:
    group = PlayedGroup(max_metadata_bytes=100)
    first = group.join(new_id="a", protocols=(("range", b"x" * 60),))
    much = (("range", b"x" * 40),)
    assert group.error_of(group.join(new_id="b", protocols=much)) == "GroupMetadataTooLarge"
    group.join(new_id="b", instance_id="i")
    group.run_timers()
    assert group.joined(first).generation_id == 1
    assert group.error_of(group.join("b", "", "i", much)) == "GroupMetadataTooLarge"
    assert group.error_of(group.join("", "c", "i", much)) == "GroupMetadataTooLarge"
    # New metadata replaces the old.
    assert group.is_pending(group.join("a", protocols=(("range", b"x" * 80),)))
    group.leave(("a", None), ("b", "i"))
    assert group.group.metadata_bytes == 0


def test_the_assignments_of_a_group_are_limited() -> None:
    group = PlayedGroup(max_metadata_bytes=100)
    group.generation("a", "b")
    waiting = group.sync("b", 1)
    leader = group.sync("a", 1, a=b"x" * 40, b=b"x" * 47, unknown=b"x" * 100)
    assert {group.error_of(one) for one in (leader, waiting)} == {"GroupMetadataTooLarge"}
    assert group.state == "PreparingRebalance"
    again = group.join("a"), group.join("b")
    assert [group.joined(one).generation_id for one in again] == [2, 2]
    assert group.synced(group.sync("a", 2, a=b"x" * 40, b=b"x" * 46)) == b"x" * 40


def test_the_sync_timeout_ends_when_all_have_synced() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    group.sync("b", 1)
    group.sync("a", 1)
    group.advance(199_999)
    assert group.state == "Stable"


def test_members_keep_generation_and_assignment_after_a_restart() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.advance(9000)
    group.restart()
    assert group.state == "Stable"
    group.group.check_heartbeat("b", None, 1)
    assert group.synced(group.sync("b", 1)) == b"b"
    group.advance(9999)
    assert set(group.group.members) == {"a", "b"}
    assert group.joined(group.join("b")).leader == "a"


def test_a_generation_can_be_assigned_after_a_restart() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    group.restart()
    assert group.state == "CompletingRebalance"
    waiting = group.sync("b", 1)
    group.sync("a", 1, b=b"!")
    assert group.synced(waiting) == b"!"


def test_a_member_that_does_not_return_after_a_restart_is_removed() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    group.restart()
    group.sync("b", 1)
    group.advance(60_000)
    assert set(group.group.members) == {"b"}


def test_members_have_all_the_time_to_join_when_their_sessions_start_again() -> None:
    group = PlayedGroup()
    group.stable("a", "b", session_ms=200_000)
    group.join("a")
    group.advance(59_000)
    group.group.apply(SessionsStarted("g", group.now_ms))
    group.advance(59_000)
    assert set(group.group.members) == {"a", "b"}
    group.advance(1_000)
    assert set(group.group.members) == {"a"}


def test_a_generation_is_never_used_again() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.leave(("a", None))
    group.restart()
    joined = group.join(new_id="b")
    group.run_timers()
    assert group.joined(joined).generation_id == 3


def test_transitions_are_unique_and_none_leaves_the_dead_state() -> None:
    assert len({(one.source, one.event) for one in TRANSITIONS}) == len(TRANSITIONS)
    assert not [one for one in TRANSITIONS if one.source is State.DEAD]


def test_other_transitions_are_impossible() -> None:
    allowed = {(one.source, one.event) for one in TRANSITIONS}
    for state in State:
        for event in Event:
            if (state, event) not in allowed:
                with pytest.raises(AssertionError):
                    next_state(state, event)
