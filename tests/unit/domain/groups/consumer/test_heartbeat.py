from __future__ import annotations

import pytest

from domain.errors import (
    FencedInstanceId,
    FencedMemberEpoch,
    UnreleasedInstanceId,
)
from domain.groups.consumer.changes import MemberChanged, TargetChanged
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberState
from tests.unit.domain.groups.consumer.world import World


def two_members() -> World:
    """Stable: `a` and `b` share the four partitions of `t`."""
    world = World(t=4)
    world.join("a", "t")
    world.join("b", "t")
    world.settle()
    assert world.group.state_name == "Stable"
    return world


def test_a_heartbeat_without_owned_partitions_revokes_nothing() -> None:
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


def test_the_partitions_of_a_member_that_leaves_are_assigned_with_the_next_heartbeat() -> None:
    world = two_members()
    world.leave("b")
    assert world.group.state_name == "Assigning"
    response = world.beat("a")
    assert (response.epoch, world.named(response.assignment)) == (3, {"t": [0, 1, 2, 3]})


# what a heartbeat changes


def test_a_heartbeat_in_a_stable_group_changes_nothing() -> None:
    world = two_members()
    assert world.beat("a").assignment is None
    assert world.changes == []


def test_a_new_client_host_is_persisted_without_a_new_epoch() -> None:
    world = two_members()
    response = world.beat("a", client_host="/10.0.0.1")
    assert [type(change) for change in world.changes] == [MemberChanged]
    assert response.epoch == 2


def test_only_changed_target_assignments_are_persisted() -> None:
    world = World(t=4)
    for name in "abcd":
        world.join(name, "t")
        world.settle()
    world.leave("d")
    world.beat("a")
    targets = [one for one in world.changes if isinstance(one, TargetChanged)]
    assert len(targets) == 1


def test_a_member_that_unsubscribes_revokes_the_partitions() -> None:
    world = World(t=2, u=2)
    world.join("a", "t", "u")
    response = world.beat("a", topics=frozenset({"t"}))
    assert (response.epoch, world.named(response.assignment)) == (1, {"t": [0, 1]})
    assert world.acknowledge("a").epoch == 2


def test_topics_are_assigned_when_they_are_created_and_removed_when_they_are_deleted() -> None:
    world = World()
    assert world.join("a", "t").assignment == {}
    seen = set()
    for _ in range(2):
        world.topics.put("t", 2)
        world.settle()
        assert world.has("a") == {"t": [0, 1]}
        seen |= set(world.group.current("a").assigned)
        world.topics.remove("t")
        world.settle()
        assert world.has("a") == {}
    assert len(seen) == 2, "a topic that is created again has another id"


def test_new_partitions_are_assigned_and_other_topics_change_nothing() -> None:
    world = two_members()
    world.topics.put("other", 3)
    world.beat("a")
    assert world.changes == []
    world.topics.put("t", 6)
    world.settle()
    assert sorted(world.has("a")["t"] + world.has("b")["t"]) == list(range(6))


def test_a_regex_subscribes_to_present_and_future_topics_beside_names() -> None:
    world = World(ta=1, tb=1, u=1)
    assert world.named(world.join("a", regex="t.").assignment) == {"ta": [0], "tb": [0]}
    world.topics.put("tc", 1)
    assert world.named(world.beat("a").assignment) == {"ta": [0], "tb": [0], "tc": [0]}
    assert world.join("a", "u", regex="t.").assignment is not None
    assert world.has("a") == {"ta": [0], "tb": [0], "tc": [0], "u": [0]}
    world.beat("a", regex="", topics=frozenset())
    world.settle()
    assert world.has("a") == {}


def test_an_unused_regex_is_removed() -> None:
    world = World(ta=1)
    world.join("a", regex="t.")
    world.join("b", regex="t.")
    world.leave("a")
    assert world.group.regexes == {"t.": frozenset({"ta"})}
    world.beat("b", regex="u.")
    assert world.group.regexes == {"u.": frozenset()}
    world.leave("b")
    assert world.group.regexes == {}


def test_the_previous_epoch_is_accepted_if_the_owned_partitions_are_right() -> None:
    """The response with the new epoch may have been lost."""
    world = World(t=2)
    world.join("a", "t")
    world.join("b", "t")
    world.beat("a")
    world.acknowledge("a")
    assert world.group.current("a").epoch == 2
    assert world.beat("a", 1, owned=world.group.current("a").assigned).epoch == 2
    everything = {topic_id: frozenset({0, 1}) for topic_id in world.group.current("a").assigned}
    for owned in (None, everything):
        with pytest.raises(FencedMemberEpoch):
            world.beat("a", 1, owned=owned)


# static members


def test_a_static_member_returns_under_another_id_with_its_partitions() -> None:
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


def test_an_instance_id_in_use_is_refused_and_a_replaced_member_fenced() -> None:
    world = World(t=1)
    world.join("a", "t", instance_id="i")
    with pytest.raises(UnreleasedInstanceId, match="owned by a member"):
        world.join("z", "t", instance_id="i")
    world.leave_static("a", "i")
    world.join("z", "t", instance_id="i")
    with pytest.raises(FencedInstanceId, match="was fenced by member z"):
        world.beat("a", 1, instance_id="i")
    with pytest.raises(FencedInstanceId):
        world.leave("a", "i")


def test_a_static_member_that_leaves_revokes_its_pending_partitions() -> None:
    world = World(t=2)
    world.join("a", "t", instance_id="i")
    world.join("b", "t")
    world.beat("a", instance_id="i")
    world.leave_static("a", "i")
    assert world.named(world.beat("b").assignment) == {"t": [1]}


def test_the_assignor_that_most_members_name_is_used() -> None:
    world = World(t=2, u=2)
    world.join("a", "t", "u", server_assignor="range")
    world.join("b", "t", "u")
    world.settle()
    assert world.has("a") == {"t": [0], "u": [0]}
    assert world.has("b") == {"t": [1], "u": [1]}


def test_an_assignor_that_is_not_supported_is_ignored() -> None:
    world = World(assignors=("uniform",), t=1)
    assert world.named(world.join("a", "t", server_assignor="range").assignment) == {"t": [0]}


def test_deletion_removes_all_state() -> None:
    world = World(ta=1)
    world.join("a", regex="t.", instance_id="i")
    world.join("b", "ta")
    for change in world.group.deletion():
        world.group.apply(change)
    nothing = ConsumerGroup("g")
    for name in ("epoch", "target_epoch", "members", "currents", "targets", "regexes"):
        assert getattr(world.group, name) == getattr(nothing, name)
