"""Joining a classic group: the rules, one by one."""

from __future__ import annotations

import pytest

from domain.errors import InvalidSessionTimeout
from domain.groups.classic.join import NEW_MEMBER_TIMEOUT_MS, check_session_timeout
from domain.groups.classic.member import JoinRequest
from tests.fakes.classic_group import RANGE, PlayedGroup

STICKY = (("sticky", b"s"),)


def test_a_new_member_is_given_its_id_and_comes_back_with_it() -> None:
    group = PlayedGroup()
    asked = group.join(new_id="a", twice=True)
    assert (group.refused(asked), group.answers[asked].member_id) == ("MemberIdRequired", "a")
    assert (group.state, group.kept) == ("Empty", [])
    joined = group.join("a", twice=True)
    group.due()
    assert group.joined(joined).generation_id == 1


def test_an_id_that_is_not_used_is_forgotten_after_its_session() -> None:
    group = PlayedGroup()
    group.join(new_id="a", twice=True, session_ms=7000)
    group.pass_time(6999)
    assert group.group.pending
    group.pass_time(1)
    assert not group.group.pending
    assert group.refused(group.join("a", twice=True)) == "UnknownMemberId"


def test_who_was_given_an_id_is_waited_for() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.join(new_id="b", twice=True)
    again = group.join("a")
    assert group.waits(again)
    both = group.join("b", twice=True)
    assert group.joined(again).generation_id == group.joined(both).generation_id == 2


def test_who_was_given_an_id_and_never_came_is_waited_for_no_longer_than_its_session() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.join(new_id="b", twice=True, session_ms=6000)
    again = group.join("a")
    group.pass_time(5999)
    assert group.waits(again)
    group.pass_time(1)
    assert group.joined(again).generation_id == 2


@pytest.mark.parametrize(("type_", "protocols"), [("", RANGE), ("consumer", ())])
def test_a_member_has_a_type_and_protocols(type_: str, protocols: tuple[()]) -> None:
    group = PlayedGroup()
    asked = group.join(new_id="a", protocol_type=type_, protocols=protocols)
    assert group.refused(asked) == "InconsistentGroupProtocol"


def test_members_are_of_one_type_and_have_a_protocol_in_common() -> None:
    group = PlayedGroup()
    group.stable("a", "b", protocols=(*RANGE, *STICKY))
    assert group.refused(group.join(new_id="c", protocol_type="connect")) == (
        "InconsistentGroupProtocol"
    )
    other = (("other", b""),)
    assert group.refused(group.join(new_id="c", protocols=other)) == "InconsistentGroupProtocol"
    assert group.refused(group.join("b", protocols=other)) == "InconsistentGroupProtocol"
    assert group.waits(group.join(new_id="c", protocols=STICKY))


def test_an_empty_group_may_be_of_another_type_next_time() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.leave(("a", None))
    joined = group.join(new_id="b", protocol_type="connect", protocols=STICKY)
    group.due()
    assert (group.joined(joined).protocol_type, group.joined(joined).protocol_name) == (
        "connect",
        "sticky",
    )


def test_the_protocol_that_most_members_prefer_wins_if_all_know_it() -> None:
    group = PlayedGroup()
    a = group.join(new_id="a", protocols=(("x", b""), ("y", b"ay"), ("z", b"az")))
    group.join(new_id="b", protocols=(("z", b"bz"), ("y", b"by")))
    group.join(new_id="c", protocols=(("w", b""), ("z", b"cz"), ("y", b"cy")))
    group.due()
    assert group.joined(a).protocol_name == "z"
    assert group.joined(a).members == (("a", None, b"az"), ("b", None, b"bz"), ("c", None, b"cz"))


@pytest.mark.parametrize(("session_ms", "fits"), [(5999, False), (6000, True), (10, False)])
def test_session_timeouts_have_bounds(session_ms: int, fits: bool) -> None:
    request = JoinRequest("g", "", None, "c", "/h", session_ms, 1, "consumer", RANGE)
    if fits:
        check_session_timeout(request, PlayedGroup().limits)
        return
    with pytest.raises(InvalidSessionTimeout):
        check_session_timeout(request, PlayedGroup().limits)


# ---- how many


def test_a_full_group_takes_nobody_else() -> None:
    group = PlayedGroup(max_size=2)
    group.stable("a", "b")
    asked = group.join(new_id="c")
    assert (group.refused(asked), group.answers[asked].member_id) == ("GroupMaxSizeReached", "")
    assert group.waits(group.join("a"))


def test_in_a_rebalance_who_comes_last_finds_it_full_even_if_it_was_in() -> None:
    group = PlayedGroup(max_size=2)
    group.stable("a", "b")
    again = group.join("a")
    new = group.join(new_id="c")
    assert group.waits(again)
    late = group.join("b")
    assert group.refused(late) == "GroupMaxSizeReached"
    assert group.joined(again).generation_id == group.joined(new).generation_id == 2
    assert set(group.group.members) == {"a", "c"}


def test_ids_are_not_given_away_without_end() -> None:
    group = PlayedGroup(max_size=2)
    for one in ("a", "b"):
        group.join(new_id=one, twice=True)
    assert group.refused(group.join(new_id="c", twice=True)) == "GroupMaxSizeReached"
    group.pass_time(10_000)
    assert group.refused(group.join(new_id="c", twice=True)) == "MemberIdRequired"


# ---- a new group


def test_a_new_group_waits_for_more_members() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    first = group.join(new_id="a")
    group.pass_time(2999)
    assert group.waits(first)
    group.pass_time(1)
    assert group.joined(first).generation_id == 1


def test_it_waits_longer_as_long_as_members_come_but_not_beyond_the_rebalance_timeout() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    tokens = [group.join(new_id="m0", rebalance_ms=10_000)]
    for number in range(1, 9):
        group.pass_time(1200)
        tokens.append(group.join(new_id=f"m{number}", rebalance_ms=10_000))
    assert group.now_ms == 9600
    assert all(group.waits(token) for token in tokens)
    group.pass_time(400)
    assert {group.joined(token).generation_id for token in tokens} == {1}


def test_it_does_not_wait_longer_when_nobody_came_lately() -> None:
    group = PlayedGroup(initial_delay_ms=3000)
    group.join(new_id="a")
    group.pass_time(1000)
    second = group.join(new_id="b")
    group.pass_time(4999)
    assert group.waits(second)
    group.pass_time(1)
    assert group.joined(second).generation_id == 1


# ---- joining again


def test_a_follower_of_a_stable_group_that_has_nothing_new_is_told_how_it_is() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    answer = group.joined(group.join("b"))
    assert (answer.generation_id, answer.leader, answer.members) == (1, "a", ())
    assert group.state == "Stable"


def test_the_leader_of_a_stable_group_brings_about_a_rebalance_by_joining() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    again = group.join("a")
    assert (group.waits(again), group.state) == (True, "PreparingRebalance")


def test_so_does_a_follower_that_has_something_new() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    assert group.waits(group.join("b", protocols=(("range", b"new"),)))
    assert group.state == "PreparingRebalance"


def test_before_the_assignment_all_are_told_again_and_the_leader_everything() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    assert len(group.joined(group.join("a")).members) == 2
    assert group.joined(group.join("b")).members == ()
    assert group.state == "CompletingRebalance"


def test_something_new_before_the_assignment_begins_again_and_who_waits_for_it_joins_too() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    waiting = group.sync("b", 1)
    again = group.join("a", protocols=(("range", b"new"),))
    assert group.refused(waiting) == "RebalanceInProgress"
    assert (group.waits(again), group.state) == (True, "PreparingRebalance")
    group.join("b")
    assert group.joined(again).generation_id == 2


def test_who_is_new_may_wait_five_minutes_and_is_then_taken_for_gone() -> None:
    group = PlayedGroup()
    group.stable("a", rebalance_ms=1_000_000)
    waiting = group.join(new_id="b", rebalance_ms=1_000_000)
    while group.now_ms + 9000 < NEW_MEMBER_TIMEOUT_MS:
        group.pass_time(9000)
        group.hear("a")
    assert group.waits(waiting)
    group.pass_time(9000)
    assert group.refused(waiting) == "UnknownMemberId"
    assert set(group.group.members) == {"a"}


def test_who_joins_again_while_it_waits_is_answered_on_the_newer_connection() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    first = group.join("a")
    second = group.join("a")
    assert (group.refused(first), group.waits(second)) == ("RebalanceInProgress", True)
    group.join("b")
    assert group.joined(second).generation_id == 2
    assert group.group.joining == 0


def test_who_syncs_again_while_it_waits_is_answered_on_the_newer_connection() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    first, second = group.sync("b", 1), group.sync("b", 1)
    assert (group.refused(first), group.waits(second)) == ("RebalanceInProgress", True)
    group.sync("a", 1, b=b"!")
    assert group.synced(second) == b"!"
