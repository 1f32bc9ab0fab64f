"""How generations begin and end: syncs, silence, leaders, what is kept."""

from __future__ import annotations

import pytest

from domain.errors import (
    BrokerError,
    IllegalGeneration,
    InconsistentGroupProtocol,
    RebalanceInProgress,
    UnknownMemberId,
)
from domain.groups.classic.rebalance import expire
from domain.groups.classic.states import TRANSITIONS, Event, State, next_state
from domain.groups.classic.sync import SyncRequest, sync
from tests.fakes.classic_group import WALL_MS, PlayedGroup


def test_followers_wait_for_the_leader() -> None:
    group = PlayedGroup()
    group.generation("a", "b", "c")
    waiting = group.sync("b", 1)
    assert group.waits(waiting)
    own = group.sync("a", 1, a=b"1", b=b"2")
    assert (group.synced(own), group.synced(waiting)) == (b"1", b"2")
    assert group.state == "Stable"
    # Whom the leader forgot has nothing to do.
    assert group.synced(group.sync("c", 1)) == b""


@pytest.mark.parametrize(
    ("member_id", "generation_id", "named", "refusal"),
    [
        ("x", 1, (None, None), UnknownMemberId),
        ("a", 0, (None, None), IllegalGeneration),
        ("a", 2, (None, None), IllegalGeneration),
        ("a", 1, ("connect", None), InconsistentGroupProtocol),
        ("a", 1, ("consumer", "sticky"), InconsistentGroupProtocol),
    ],
)
def test_only_a_member_of_this_generation_syncs(
    member_id: str,
    generation_id: int,
    named: tuple[str | None, str | None],
    refusal: type[BrokerError],
) -> None:
    group = PlayedGroup()
    group.generation("a")
    with pytest.raises(refusal):
        sync(
            group.group,
            SyncRequest("g", generation_id, member_id, None, *named, {}),
            9,
            group.now,
            group.limits,
        )


def test_nobody_syncs_while_members_join() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.join("a")
    with pytest.raises(RebalanceInProgress):
        group.sync("b", 1)


def test_a_rebalance_takes_as_long_as_the_most_patient_member_allows() -> None:
    group = PlayedGroup()
    group.join(new_id="a", rebalance_ms=5000, session_ms=60_000)
    group.join(new_id="b", rebalance_ms=20_000, session_ms=60_000)
    group.due()
    group.sync("b", 1)
    group.sync("a", 1)
    again = group.join("a", rebalance_ms=5000, session_ms=60_000)
    group.pass_time(19_999)
    assert group.waits(again)
    group.pass_time(1)
    assert group.joined(again).generation_id == 2
    assert set(group.group.members) == {"a"}


def test_who_does_not_join_in_time_is_out_and_the_leader_is_another() -> None:
    group = PlayedGroup()
    group.stable("a", "b", "c", session_ms=100_000)
    b, c = group.join("b", protocols=(("range", b"n"),)), group.join("c")
    group.pass_time(60_000)
    assert group.joined(b).leader == group.joined(c).leader == "b"
    assert [one[0] for one in group.joined(b).members] == ["b", "c"]


def test_a_static_member_that_does_not_join_in_time_stays_but_does_not_lead() -> None:
    group = PlayedGroup()
    group.join(new_id="a", instance_id="i", session_ms=100_000)
    group.join(new_id="b", session_ms=100_000)
    group.due()
    group.sync("b", 1)
    group.sync("a", 1)
    again = group.join("b", protocols=(("range", b"new"),))
    group.pass_time(60_000)
    answer = group.joined(again)
    assert (answer.leader, [one[:2] for one in answer.members]) == (
        "b",
        [("a", "i"), ("b", None)],
    )


def test_static_members_of_which_nobody_joins_have_until_their_sessions_end() -> None:
    group = PlayedGroup()
    group.join(new_id="a", instance_id="i", session_ms=150_000)
    group.join(new_id="b", session_ms=150_000)
    group.due()
    group.sync("b", 1)
    group.sync("a", 1)
    group.leave(("b", None))
    group.pass_time(149_999)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"a"})
    group.pass_time(1)
    assert (group.state, group.group.generation_id) == ("Empty", 2)


@pytest.mark.parametrize("rebalance_ms", [-1, 0, 1])
def test_who_leaves_others_no_time_is_looked_at_a_while_later(rebalance_ms: int) -> None:
    group = PlayedGroup()
    group.join(new_id="a", session_ms=150_000)
    group.join(new_id="b", instance_id="i", session_ms=150_000, rebalance_ms=rebalance_ms)
    group.due()
    group.sync("b", 1)
    group.sync("a", 1)
    group.leave(("a", None))
    group.now_ms += max(rebalance_ms, 0)
    group.carry_out(expire(group.group, group.now, group.limits))
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"b"})
    assert group.group.next_deadline() == group.now_ms + 1000


def test_a_silent_member_is_out_and_the_others_join_again() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.pass_time(9999)
    group.hear("b")
    group.pass_time(1)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"b"})
    assert group.group.leader == "b"


def test_when_all_are_silent_the_group_is_empty() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.pass_time(10_000)
    assert (group.state, group.group.generation_id) == ("Empty", 2)
    assert group.kept[-1] == group.group.image(WALL_MS + 10_000)
    assert group.group.next_deadline() is None


def test_who_waits_is_not_silent_and_its_session_begins_when_it_is_answered() -> None:
    group = PlayedGroup()
    group.stable("a", "b", session_ms=30_000)
    waiting = group.join("a", session_ms=30_000)
    for _ in range(4):
        group.pass_time(14_000)
        group.hear("b")
    assert group.waits(waiting)
    group.join("b", session_ms=30_000)
    assert group.joined(waiting).generation_id == 2
    group.pass_time(29_999)
    assert set(group.group.members) == {"a", "b"}


def test_who_joins_and_does_not_sync_is_out_when_a_rebalance_has_passed() -> None:
    group = PlayedGroup()
    group.generation("a", "b", "c", session_ms=200_000)
    group.sync("a", 1, b=b"!")
    group.sync("b", 1)
    assert group.state == "Stable"
    group.pass_time(59_999)
    assert group.state == "Stable"
    group.pass_time(1)
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"a", "b"})


def test_a_leader_that_does_not_sync_is_out_and_who_waits_for_it_joins_again() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    waiting = group.sync("b", 1)
    group.pass_time(60_000)
    assert group.refused(waiting) == "RebalanceInProgress"
    again = group.join("b")
    assert group.joined(again).leader == "b"


def waiting_for_their_leader() -> tuple[PlayedGroup, list[int]]:
    group = PlayedGroup()
    group.generation("a", "b", "c", session_ms=10_000, rebalance_ms=30_000)
    return group, [group.sync(one, 1) for one in ("b", "c")]


def join_again_in_time(group: PlayedGroup, waiting: list[int]) -> None:
    """They are refused, and have a whole session to join again."""
    assert [group.refused(one) for one in waiting] == ["RebalanceInProgress"] * 2
    assert group.state == "PreparingRebalance"
    group.pass_time(9999)
    again = [group.join(one, rebalance_ms=30_000) for one in ("b", "c")]
    group.pass_time(30_000)
    assert [group.joined(one).generation_id for one in again] == [2, 2]


def test_who_waits_for_a_leader_that_is_silent_is_not_silent_itself() -> None:
    group, waiting = waiting_for_their_leader()
    group.pass_time(10_000)
    assert set(group.group.members) == {"b", "c"}
    join_again_in_time(group, waiting)


def test_who_waits_for_a_leader_that_never_assigns_is_not_silent() -> None:
    group, waiting = waiting_for_their_leader()
    for _ in range(6):
        group.hear("a")
        group.pass_time(5000)
    assert set(group.group.members) == {"b", "c"}
    join_again_in_time(group, waiting)


def test_who_waits_for_a_leader_while_another_comes_is_not_silent() -> None:
    group, waiting = waiting_for_their_leader()
    for _ in range(3):
        group.pass_time(5000)
        group.hear("a")
    group.join(new_id="d", rebalance_ms=30_000)
    group.due()
    assert set(group.group.members) == {"a", "b", "c", "d"}
    join_again_in_time(group, waiting)


def test_members_say_no_more_than_a_group_may_keep() -> None:
    group = PlayedGroup(max_metadata_bytes=100)
    first = group.join(new_id="a", protocols=(("range", b"x" * 60),))
    much = (("range", b"x" * 40),)
    assert group.refused(group.join(new_id="b", protocols=much)) == "GroupMetadataTooLarge"
    group.join(new_id="b", instance_id="i")
    group.due()
    assert group.joined(first).generation_id == 1
    assert group.refused(group.join("b", "", "i", much)) == "GroupMetadataTooLarge"
    assert group.refused(group.join("", "c", "i", much)) == "GroupMetadataTooLarge"
    # What it says instead of what it said.
    assert group.waits(group.join("a", protocols=(("range", b"x" * 80),)))
    group.leave(("a", None), ("b", "i"))
    assert group.group.metadata_bytes == 0


def test_a_leader_assigns_no_more_than_a_group_may_keep() -> None:
    group = PlayedGroup(max_metadata_bytes=100)
    group.generation("a", "b")
    waiting = group.sync("b", 1)
    leader = group.sync("a", 1, a=b"x" * 40, b=b"x" * 47, nobody=b"x" * 100)
    assert {group.refused(one) for one in (leader, waiting)} == {"GroupMetadataTooLarge"}
    assert group.state == "PreparingRebalance"
    again = group.join("a"), group.join("b")
    assert [group.joined(one).generation_id for one in again] == [2, 2]
    assert group.synced(group.sync("a", 2, a=b"x" * 40, b=b"x" * 46)) == b"x" * 40


def test_the_group_has_until_all_have_synced() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    group.sync("b", 1)
    group.sync("a", 1)
    group.pass_time(199_999)
    assert group.state == "Stable"


# ---- leaving


def test_several_leave_at_once_and_each_is_told() -> None:
    group = PlayedGroup()
    group.join(new_id="a")
    group.join(new_id="b", instance_id="i")
    group.join(new_id="c", instance_id="j")
    group.due()
    told = group.leave(
        ("a", None),
        ("a", None),
        ("x", None),
        ("x", "i"),
        ("", "i"),
        ("", "i"),
        ("", "k"),
        ("", None),
    )
    assert told == [
        *("", "UnknownMemberId", "UnknownMemberId", "FencedInstanceId"),
        *("", "UnknownMemberId", "UnknownMemberId", "UnknownMemberId"),
    ]
    assert (group.state, set(group.group.members)) == ("PreparingRebalance", {"c"})


def test_who_leaves_waits_for_nothing_any_more() -> None:
    group = PlayedGroup()
    group.generation("a", "b", "c")
    waiting = group.sync("b", 1)
    other = group.sync("c", 1)
    group.leave(("b", None))
    assert (group.refused(waiting), group.refused(other)) == (
        "UnknownMemberId",
        "RebalanceInProgress",
    )
    joining = group.join("c")
    group.leave(("c", None))
    assert group.refused(joining) == "UnknownMemberId"


def test_when_the_one_leaves_who_was_waited_for_the_others_go_on() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    again = group.join("a")
    group.leave(("b", None))
    assert group.joined(again).generation_id == 2


def test_when_the_last_one_leaves_the_group_is_empty_and_that_is_kept() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.leave(("a", None))
    assert (group.state, group.group.leader, group.group.protocol_name) == ("Empty", None, None)
    assert group.kept[-1] is not None
    assert (group.kept[-1].generation_id, group.kept[-1].members) == (2, ())


# ---- what is kept


def test_members_go_on_after_a_restart_where_they_were() -> None:
    group = PlayedGroup()
    group.stable("a", "b")
    group.pass_time(9000)
    group.restart()
    assert group.state == "Stable"
    group.group.check_heartbeat("b", None, 1)
    assert group.synced(group.sync("b", 1)) == b"b"
    group.pass_time(9999)
    assert set(group.group.members) == {"a", "b"}
    assert group.joined(group.join("b")).leader == "a"


def test_a_generation_goes_on_after_a_restart_before_its_assignment() -> None:
    group = PlayedGroup()
    group.generation("a", "b")
    group.restart()
    assert group.state == "CompletingRebalance"
    waiting = group.sync("b", 1)
    group.sync("a", 1, b=b"!")
    assert group.synced(waiting) == b"!"


def test_who_does_not_come_back_after_a_restart_is_out_in_time() -> None:
    group = PlayedGroup()
    group.generation("a", "b", session_ms=200_000)
    group.restart()
    group.sync("b", 1)
    group.pass_time(60_000)
    assert set(group.group.members) == {"b"}


def test_a_generation_never_comes_back() -> None:
    group = PlayedGroup()
    group.stable("a")
    group.leave(("a", None))
    group.restart()
    joined = group.join(new_id="b")
    group.due()
    assert group.joined(joined).generation_id == 3


# ---- the table


def test_each_event_leads_to_one_state() -> None:
    assert len({(one.source, one.event) for one in TRANSITIONS}) == len(TRANSITIONS)


def test_what_is_not_in_the_table_does_not_happen() -> None:
    allowed = {(one.source, one.event) for one in TRANSITIONS}
    for state in State:
        for event in Event:
            if (state, event) not in allowed:
                with pytest.raises(AssertionError):
                    next_state(state, event)


def test_nothing_happens_to_the_dead() -> None:
    assert not [one for one in TRANSITIONS if one.source is State.DEAD]
