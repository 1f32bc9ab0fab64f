from __future__ import annotations

import pytest

from domain.errors import (
    FencedInstanceId,
    FencedMemberEpoch,
    GroupMaxSizeReached,
    UnknownMemberId,
    UnreleasedInstanceId,
)
from domain.groups.consumer.changes import MemberChanged, TargetChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberState
from tests.unit.domain.groups.consumer.world import World


def two_members() -> World:
    """a and b share t, of four partitions, and all is quiet."""
    world = World(t=4)
    world.join("a", "t")
    world.join("b", "t")
    world.settle()
    assert world.group.state_name == "Stable"
    return world


# joining and leaving


def test_the_first_member_gets_everything_at_once() -> None:
    world = World(t=3)
    answer = world.join("a", "t")
    assert (answer.epoch, world.named(answer.assignment)) == (1, {"t": [0, 1, 2]})
    assert world.group.state_name == "Stable"


def test_the_second_gets_its_share_when_the_first_has_given_it_up() -> None:
    world = World(t=4)
    world.join("a", "t")
    joined = world.join("b", "t")
    assert (joined.epoch, joined.assignment) == (2, {})
    told = world.beat("a")
    assert (told.epoch, world.named(told.assignment)) == (1, {"t": [0, 1]})
    assert world.beat("b").assignment is None
    done = world.acknowledge("a")
    assert (done.epoch, done.assignment) == (2, None)
    assert world.named(world.beat("b").assignment) == {"t": [2, 3]}
    assert world.group.state_name == "Stable"


def test_a_member_that_does_not_say_what_it_owns_has_given_up_nothing() -> None:
    world = World(t=2)
    world.join("a", "t")
    world.join("b", "t")
    world.beat("a")
    for _ in range(3):
        world.beat("a")
        world.beat("b")
    assert world.group.current("a").state is MemberState.UNREVOKED_PARTITIONS
    assert world.group.current("b").state is MemberState.UNRELEASED_PARTITIONS
    assert world.group.state_name == "Reconciling"


def test_the_partitions_of_who_leaves_go_to_the_others_with_their_next_heartbeat() -> None:
    world = two_members()
    world.leave("b")
    assert world.group.state_name == "Assigning"
    answer = world.beat("a")
    assert (answer.epoch, world.named(answer.assignment)) == (3, {"t": [0, 1, 2, 3]})


def test_when_the_last_one_leaves_the_group_is_empty_and_its_epoch_stays() -> None:
    world = World(t=1)
    world.join("a", "t")
    world.leave("a")
    assert (world.group.state_name, world.group.epoch) == ("Empty", 2)
    assert world.join("b", "t").epoch == 3


def test_a_member_may_be_subscribed_to_nothing() -> None:
    world = World(t=1)
    assert world.join("a").assignment == {}
    assert world.group.state_name == "Stable"


def test_a_full_group_takes_nobody_but_its_members() -> None:
    world = World(max_size=1, t=1)
    world.join("a", "t")
    with pytest.raises(GroupMaxSizeReached, match="maximum capacity of 1 members"):
        world.join("b", "t")
    assert world.join("a", "t").epoch == 1


# what a heartbeat changes


def test_a_heartbeat_in_a_quiet_group_changes_nothing() -> None:
    world = two_members()
    assert world.beat("a").assignment is None
    assert world.changes == []


def test_a_full_request_is_told_the_assignment_again() -> None:
    world = two_members()
    world.beat("a")
    said = {"topics": frozenset({"t"}), "rebalance_timeout_ms": 60_000, "owned": {}}
    assert world.named(world.beat("a", **said).assignment) == {"t": [0, 1]}
    assert world.changes == []


def test_another_client_host_is_kept_and_nobody_has_to_move() -> None:
    world = two_members()
    answer = world.beat("a", client_host="/10.0.0.1")
    assert [type(change) for change in world.changes] == [MemberChanged]
    assert answer.epoch == 2


def test_only_members_whose_target_changed_are_written() -> None:
    world = World(t=4)
    for name in "abcd":
        world.join(name, "t")
        world.settle()
    world.leave("d")
    world.beat("a")
    targets = [one for one in world.changes if isinstance(one, TargetChanged)]
    assert len(targets) == 1


def test_who_drops_a_topic_gives_its_partitions_up() -> None:
    world = World(t=2, u=2)
    world.join("a", "t", "u")
    told = world.beat("a", topics=frozenset({"t"}))
    assert (told.epoch, world.named(told.assignment)) == (1, {"t": [0, 1]})
    assert world.acknowledge("a").epoch == 2


# topics


def test_a_topic_that_comes_into_being_is_assigned() -> None:
    world = World()
    assert world.join("a", "t").assignment == {}
    world.topics.put("t", 2)
    assert world.named(world.beat("a").assignment) == {"t": [0, 1]}


def test_a_topic_that_grows_is_assigned_again() -> None:
    world = two_members()
    world.topics.put("t", 6)
    world.settle()
    assert sorted(world.has("a")["t"] + world.has("b")["t"]) == list(range(6))


def test_a_deleted_topic_is_taken_away() -> None:
    world = two_members()
    world.topics.remove("t")
    world.settle()
    assert world.has("a") == world.has("b") == {}


def test_a_topic_made_anew_under_its_name_is_another_one() -> None:
    world = World(t=1)
    world.join("a", "t")
    before = set(world.group.current("a").assigned)
    world.topics.remove("t")
    world.topics.put("t", 1)
    world.settle()
    assert world.has("a") == {"t": [0]}
    assert before.isdisjoint(world.group.current("a").assigned)


def test_other_topics_do_not_disturb_the_group() -> None:
    world = two_members()
    world.topics.put("other", 3)
    world.beat("a")
    assert world.changes == []


# regular expressions


def test_a_regex_means_the_topics_there_are_now_and_those_that_come() -> None:
    world = World(ta=1, tb=1, u=1)
    assert world.named(world.join("a", regex="t.").assignment) == {"ta": [0], "tb": [0]}
    world.topics.put("tc", 1)
    assert world.named(world.beat("a").assignment) == {"ta": [0], "tb": [0], "tc": [0]}


def test_names_and_a_regex_add_up() -> None:
    world = World(ta=1, u=1)
    assert world.named(world.join("a", "u", regex="t.").assignment) == {"ta": [0], "u": [0]}


def test_a_regex_that_nobody_uses_any_more_is_forgotten() -> None:
    world = World(ta=1)
    world.join("a", regex="t.")
    world.join("b", regex="t.")
    world.leave("a")
    assert world.group.regexes == {"t.": frozenset({"ta"})}
    world.beat("b", regex="u.")
    assert world.group.regexes == {"u.": frozenset()}
    world.leave("b")
    assert world.group.regexes == {}


def test_an_empty_regex_takes_the_subscription_away() -> None:
    world = World(ta=1)
    world.join("a", regex="t.")
    world.beat("a", regex="")
    world.settle()
    assert world.has("a") == {}


# epochs


def test_an_epoch_ahead_of_the_brokers_is_fenced() -> None:
    world = two_members()
    with pytest.raises(FencedMemberEpoch, match=r"a greater member epoch \(3\) than .* \(2\)"):
        world.beat("a", 3)


def test_an_old_epoch_is_fenced() -> None:
    world = two_members()
    world.leave("b")
    world.beat("a")
    with pytest.raises(FencedMemberEpoch, match=r"a smaller member epoch \(1\)"):
        world.beat("a", 1, owned={})


def test_the_epoch_before_is_taken_from_who_owns_no_more_than_it_should() -> None:
    """The answer that told it of the new epoch may have been lost."""
    world = World(t=2)
    world.join("a", "t")
    world.join("b", "t")
    world.beat("a")
    world.acknowledge("a")
    assert world.group.current("a").epoch == 2
    assert world.beat("a", 1, owned=world.group.current("a").assigned).epoch == 2
    with pytest.raises(FencedMemberEpoch):
        world.beat("a", 1)
    everything = {topic_id: frozenset({0, 1}) for topic_id in world.group.current("a").assigned}
    with pytest.raises(FencedMemberEpoch):
        world.beat("a", 1, owned=everything)


def test_a_fenced_member_begins_again_with_epoch_0_and_keeps_its_share() -> None:
    world = two_members()
    answer = world.join("a", "t")
    assert (answer.epoch, world.named(answer.assignment)) == (2, {"t": [0, 1]})


def test_who_is_no_member_is_told_so() -> None:
    with pytest.raises(UnknownMemberId, match="Member x is not a member of group g"):
        two_members().beat("x", 1)


# static members


def test_a_static_member_comes_back_under_another_id_with_all_it_had() -> None:
    world = World(t=4)
    world.join("a", "t", instance_id="i")
    world.join("b", "t")
    world.settle()
    had = world.has("a")
    assert world.leave_static("a", "i").epoch == -2
    world.beat("b")
    assert world.changes == []
    back = world.join("z", "t", instance_id="i")
    assert (back.epoch, world.named(back.assignment)) == (2, had)
    assert set(world.group.members) == {"b", "z"}
    assert world.group.state_name == "Stable"


def test_an_instance_id_that_is_in_use_is_not_given_away() -> None:
    world = World(t=1)
    world.join("a", "t", instance_id="i")
    with pytest.raises(UnreleasedInstanceId, match="owned by a member"):
        world.join("z", "t", instance_id="i")


def test_the_member_that_was_replaced_is_fenced() -> None:
    world = World(t=1)
    world.join("a", "t", instance_id="i")
    world.leave_static("a", "i")
    world.join("z", "t", instance_id="i")
    with pytest.raises(FencedInstanceId, match="was fenced by member z"):
        world.beat("a", 1, instance_id="i")
    with pytest.raises(FencedInstanceId):
        world.leave("a", "i")


def test_an_unknown_instance_id_is_told_so() -> None:
    world = two_members()
    with pytest.raises(UnknownMemberId, match="Instance id i is unknown"):
        world.beat("a", 2, instance_id="i")


def test_a_static_member_that_leaves_for_good_is_gone() -> None:
    world = World(t=1)
    world.join("a", "t", instance_id="i")
    world.leave("a", "i")
    assert world.group.static_members == {}
    assert world.group.is_empty


def test_what_it_was_to_give_up_is_free_when_it_leaves_for_a_while() -> None:
    world = World(t=2)
    world.join("a", "t", instance_id="i")
    world.join("b", "t")
    world.beat("a", instance_id="i")
    world.leave_static("a", "i")
    assert world.named(world.beat("b").assignment) == {"t": [1]}


# assignors


def test_the_assignor_that_most_members_name_is_asked() -> None:
    world = World(t=2, u=2)
    world.join("a", "t", "u", server_assignor="range")
    world.join("b", "t", "u")
    world.settle()
    assert world.has("a") == {"t": [0], "u": [0]}
    assert world.has("b") == {"t": [1], "u": [1]}


def test_an_assignor_that_is_not_served_any_more_is_not_asked() -> None:
    world = World(assignors=("uniform",), t=1)
    assert world.named(world.join("a", "t", server_assignor="range").assignment) == {"t": [0]}


def test_deletion_leaves_a_group_as_if_it_had_never_been() -> None:
    world = World(ta=1)
    world.join("a", regex="t.", instance_id="i")
    world.join("b", "ta")
    for change in world.group.deletion():
        world.group.apply(change)
    nothing = ConsumerGroup("g")
    for name in ("epoch", "target_epoch", "members", "currents", "targets", "regexes"):
        assert getattr(world.group, name) == getattr(nothing, name)
