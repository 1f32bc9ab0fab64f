"""Static members that return (KIP-345)."""

from __future__ import annotations

import pytest

from tests.fakes.classic_group import RANGE, PlayedGroup

BOTH = (("range", b"r"), ("sticky", b"s"))


def with_static_member(
    *, leads: bool, protocols: tuple[tuple[str, bytes], ...] = RANGE
) -> PlayedGroup:
    """Member `s` is static, `d` is not; all of them stable."""
    group = PlayedGroup()
    for one in ("s", "d") if leads else ("d", "s"):
        group.join(new_id=one, instance_id="i" if one == "s" else None, protocols=protocols)
    group.due()
    for one in ("d", "s") if leads else ("s", "d"):
        group.sync(one, 1, s=b"S", d=b"D")
    assert group.state == "Stable"
    return group


@pytest.mark.parametrize("leads", [False, True])
@pytest.mark.parametrize("may_skip", [False, True])
def test_it_has_its_place_again_under_a_new_id_and_nobody_is_disturbed(
    leads: bool, may_skip: bool
) -> None:
    group = with_static_member(leads=leads)
    answer = group.joined(group.join(new_id="s2", instance_id="i", may_skip=may_skip))
    assert (answer.member_id, answer.generation_id, group.state) == ("s2", 1, "Stable")
    assert group.synced(group.sync("s2", 1)) == b"S"
    assert answer.skip_assignment == (leads and may_skip)
    told = {one[0] for one in answer.members}
    assert told == ({"s2", "d"} if leads and may_skip else set())
    # A client that cannot skip the assignment is not told that it leads.
    assert answer.leader == ("d" if not leads else "s2" if may_skip else "s")
    assert group.group.leader == ("s2" if leads else "d")


def test_its_new_id_is_kept_before_it_hears_of_it() -> None:
    group = with_static_member(leads=True)
    group.join(new_id="s2", instance_id="i")
    group.restart()
    assert (group.state, group.group.leader) == ("Stable", "s2")
    assert group.synced(group.sync("s2", 1)) == b"S"


def test_its_old_id_is_fenced() -> None:
    group = with_static_member(leads=False)
    group.join(new_id="s2", instance_id="i")
    assert group.refused(group.join("s", instance_id="i")) == "FencedInstanceId"
    assert group.refused(group.join("s")) == "UnknownMemberId"
    assert group.refused(group.join("s2", instance_id="j")) == "UnknownMemberId"


def test_if_the_protocol_would_be_another_all_join_again() -> None:
    group = with_static_member(leads=False, protocols=BOTH)
    assert group.group.protocol_name == "range"
    back = group.join(new_id="s2", instance_id="i", protocols=(("sticky", b"s"),))
    assert (group.waits(back), group.state) == (True, "PreparingRebalance")
    group.join("d", protocols=BOTH)
    assert (group.joined(back).generation_id, group.joined(back).protocol_name) == (2, "sticky")


def test_something_new_about_the_same_protocol_disturbs_nobody() -> None:
    group = with_static_member(leads=False)
    answer = group.joined(group.join(new_id="s2", instance_id="i", protocols=(("range", b"n"),)))
    assert answer.generation_id == 1
    assert group.group.members["s2"].metadata("range") == b"n"


def test_before_the_assignment_all_join_again() -> None:
    group = PlayedGroup()
    group.join(new_id="d")
    group.join(new_id="s", instance_id="i")
    group.due()
    waiting = group.sync("s", 1)
    back = group.join(new_id="s2", instance_id="i")
    assert (group.refused(waiting), group.waits(back)) == ("FencedInstanceId", True)
    group.join("d")
    assert group.joined(back).generation_id == 2
    assert set(group.group.members) == {"d", "s2"}


def test_while_all_join_it_takes_its_place_and_who_waited_there_is_fenced() -> None:
    group = with_static_member(leads=False)
    waiting = group.join("s", instance_id="i", protocols=(("range", b"n"),))
    back = group.join(new_id="s2", instance_id="i")
    assert (group.refused(waiting), group.waits(back)) == ("FencedInstanceId", True)
    group.join("d")
    assert group.joined(back).generation_id == 2
    assert set(group.group.members) == {"d", "s2"}


def test_silence_is_measured_anew_from_its_return() -> None:
    group = with_static_member(leads=True)
    group.pass_time(9000)
    group.join(new_id="s2", instance_id="i")
    group.pass_time(9999)
    assert set(group.group.members) == {"s2"}
