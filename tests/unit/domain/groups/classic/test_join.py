"""The rules of joining a classic group."""

from __future__ import annotations

import pytest

from domain.groups.classic.join import NEW_MEMBER_TIMEOUT_MS
from tests.fakes.classic_group import PlayedGroup

STICKY = (("sticky", b"s"),)


def test_an_unused_member_id_expires_after_the_session_timeout() -> None:
    group = PlayedGroup()
    group.join(new_id="a", joins_twice=True, session_ms=7000)
    group.advance(6999)
    assert group.group.pending
    group.advance(1)
    assert not group.group.pending
    assert group.error_of(group.join("a", joins_twice=True)) == "UnknownMemberId"


@pytest.mark.parametrize("joins", [True, False])
def test_a_rebalance_waits_for_a_client_with_a_new_member_id_until_its_session_ends(
    joins: bool,
) -> None:
    group = PlayedGroup()
    group.stable("a")
    group.join(new_id="b", joins_twice=True, session_ms=6000)
    again = group.join("a")
    group.advance(5999)
    assert group.is_pending(again)
    if joins:
        assert group.joined(group.join("b", joins_twice=True)).generation_id == 2
    else:
        group.advance(1)
    assert group.joined(again).generation_id == 2


def test_an_empty_group_can_change_its_type() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.leave(("a", None))
    token = group.join(new_id="b", protocol_type="connect", protocols=STICKY)
    group.run_timers()
    joined = group.joined(token)
    assert (joined.protocol_type, joined.protocol_name) == ("connect", "sticky")


def test_a_full_group_refuses_new_members() -> None:
    group = PlayedGroup(max_size=2)
    group.stable("a", "b")
    token = group.join(new_id="c")
    assert (group.error_of(token), group.responses[token].member_id) == ("GroupMaxSizeReached", "")
    assert group.is_pending(group.join("a"))


def test_in_a_rebalance_the_last_to_join_finds_the_group_full() -> None:
    group = PlayedGroup(max_size=2)
    group.stable("a", "b")
    again = group.join("a")
    new = group.join(new_id="c")
    assert group.is_pending(again)
    late = group.join("b")
    assert group.error_of(late) == "GroupMaxSizeReached"
    assert group.joined(again).generation_id == group.joined(new).generation_id == 2
    assert set(group.group.members) == {"a", "c"}


def test_unused_member_ids_are_limited() -> None:
    group = PlayedGroup(max_size=2)
    for one in ("a", "b"):
        group.join(new_id=one, joins_twice=True)
    assert group.error_of(group.join(new_id="c", joins_twice=True)) == "GroupMaxSizeReached"
    group.advance(10_000)
    assert group.error_of(group.join(new_id="c", joins_twice=True)) == "MemberIdRequired"


def test_a_new_group_waits_for_the_initial_delay() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    first = group.join(new_id="a")
    group.advance(2999)
    assert group.is_pending(first)
    group.advance(1)
    assert group.joined(first).generation_id == 1


def test_the_initial_delay_is_extended_by_new_members_up_to_the_rebalance_timeout() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    tokens = [group.join(new_id="m0", rebalance_ms=10_000)]
    for number in range(1, 9):
        group.advance(1200)
        tokens.append(group.join(new_id=f"m{number}", rebalance_ms=10_000))
    assert group.now_ms == 9600
    assert all(group.is_pending(token) for token in tokens)
    group.advance(400)
    assert {group.joined(token).generation_id for token in tokens} == {1}


def test_the_initial_delay_ends_without_new_members() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    group.join(new_id="a")
    group.advance(1000)
    second = group.join(new_id="b")
    group.advance(4999)
    assert group.is_pending(second)
    group.advance(1)
    assert group.joined(second).generation_id == 1


def test_new_metadata_before_the_assignment_starts_another_rebalance() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    waiting = group.sync("b", 1)
    again = group.join("a", protocols=(("range", b"new"),))
    assert group.error_of(waiting) == "RebalanceInProgress"
    assert (group.is_pending(again), group.state) == (True, "PreparingRebalance")
    group.join("b")
    assert group.joined(again).generation_id == 2


def test_a_new_member_is_removed_after_five_minutes_of_waiting() -> None:
    group = PlayedGroup()
    group.stable("a", rebalance_ms=1_000_000)
    waiting = group.join(new_id="b", rebalance_ms=1_000_000)
    while group.now_ms + 9000 < NEW_MEMBER_TIMEOUT_MS:
        group.advance(9000)
        group.renew("a")
    assert group.is_pending(waiting)
    group.advance(9000)
    assert group.error_of(waiting) == "UnknownMemberId"
    assert set(group.group.members) == {"a"}


def test_a_repeated_join_or_sync_replaces_the_pending_one() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    first, second = group.join("a"), group.join("a")
    assert (group.error_of(first), group.is_pending(second)) == ("RebalanceInProgress", True)
    group.join("b")
    assert group.joined(second).generation_id == 2
    assert group.group.joining == 0
    first, second = group.sync("b", 2), group.sync("b", 2)
    assert (group.error_of(first), group.is_pending(second)) == ("RebalanceInProgress", True)
    group.sync("a", 2, b=b"!")
    assert group.synced(second) == b"!"


def with_static_member(leads: bool) -> PlayedGroup:
    """Member `s` is static, `d` is not; all of them stable."""
    group = PlayedGroup()
    for one in ("s", "d") if leads else ("d", "s"):
        group.join(new_id=one, instance_id="i" if one == "s" else None)
    group.run_timers()
    for one in ("d", "s") if leads else ("s", "d"):
        group.sync(one, 1, s=b"S", d=b"D")
    assert group.state == "Stable"
    return group


@pytest.mark.parametrize("leads", [False, True])
@pytest.mark.parametrize("may_skip", [False, True])
def test_a_static_member_returns_without_a_rebalance_under_a_new_id(
    leads: bool, may_skip: bool
) -> None:
    group = with_static_member(leads=leads)
    response = group.joined(group.join(new_id="s2", instance_id="i", may_skip=may_skip))
    assert (response.member_id, response.generation_id, group.state) == ("s2", 1, "Stable")
    assert group.synced(group.sync("s2", 1)) == b"S"
    assert response.skip_assignment == (leads and may_skip)
    members = {one[0] for one in response.members}
    assert members == ({"s2", "d"} if leads and may_skip else set())
    # A client that cannot skip the assignment gets its old id as leader.
    assert response.leader == ("d" if not leads else "s2" if may_skip else "s")
    assert group.group.leader == ("s2" if leads else "d")


def test_the_new_id_is_persisted_before_the_response() -> None:
    group = with_static_member(leads=True)
    group.join(new_id="s2", instance_id="i")
    group.restart()
    assert (group.state, group.group.leader) == ("Stable", "s2")
    assert group.synced(group.sync("s2", 1)) == b"S"


def test_the_old_id_is_fenced() -> None:
    group = with_static_member(leads=False)
    group.join(new_id="s2", instance_id="i")
    assert group.error_of(group.join("s", instance_id="i")) == "FencedInstanceId"
    assert group.error_of(group.join("s")) == "UnknownMemberId"
    assert group.error_of(group.join("s2", instance_id="j")) == "UnknownMemberId"


def test_a_return_starts_a_new_session() -> None:
    group = with_static_member(leads=True)
    group.advance(9000)
    group.join(new_id="s2", instance_id="i")
    group.advance(9999)
    assert set(group.group.members) == {"s2"}
