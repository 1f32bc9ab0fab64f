from __future__ import annotations

import pytest

from domain.errors import NonEmptyGroup, StaleMemberEpoch, UnknownMemberId, UnsupportedVersion
from domain.groups.consumer.changes import MemberChanged, RegexResolved
from domain.groups.consumer.draft import Overlay
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from domain.groups.consumer.subscription import RefCounts
from domain.groups.group import GroupKind
from tests.unit.domain.groups.consumer.world import World


def one_member() -> ConsumerGroup:
    world = World(t=1)
    world.join("a", "t")
    return world.group


def test_a_new_group_is_an_empty_consumer_group() -> None:
    group = ConsumerGroup("g")
    assert (group.kind, group.protocol_type) == (GroupKind.CONSUMER, "consumer")
    assert group.is_empty
    assert group.state_name == "Empty"


def test_a_member_commits_with_its_epoch() -> None:
    one_member().check_commit("a", None, 1, knows_epochs=True)


@pytest.mark.parametrize("epoch", [-1, 0, 2])
def test_a_commit_with_another_epoch_is_stale(epoch: int) -> None:
    with pytest.raises(StaleMemberEpoch):
        one_member().check_commit("a", None, epoch, knows_epochs=True)


def test_a_request_that_knows_no_epochs_is_too_old() -> None:
    with pytest.raises(UnsupportedVersion, match="version 9 or above"):
        one_member().check_commit("a", None, 1, knows_epochs=False)


def test_who_is_no_member_commits_nothing() -> None:
    with pytest.raises(UnknownMemberId):
        one_member().check_commit("b", None, 1, knows_epochs=True)
    with pytest.raises(UnknownMemberId):
        one_member().check_commit("", None, -1, knows_epochs=True)


def test_anybody_commits_to_an_empty_group_without_an_epoch() -> None:
    ConsumerGroup("g").check_commit("", None, -1, knows_epochs=True)
    with pytest.raises(UnknownMemberId):
        ConsumerGroup("g").check_commit("a", None, 0, knows_epochs=True)


def test_offsets_are_read_by_everybody_who_does_not_claim_to_be_a_member() -> None:
    group = one_member()
    group.check_fetch(None, -1)
    group.check_fetch("a", 1)
    with pytest.raises(StaleMemberEpoch):
        group.check_fetch("a", 2)
    with pytest.raises(UnknownMemberId):
        group.check_fetch("b", 1)


def test_only_an_empty_group_may_be_deleted() -> None:
    ConsumerGroup("g").check_delete()
    with pytest.raises(NonEmptyGroup):
        one_member().check_delete()


def test_a_group_subscribes_to_what_a_member_names_or_a_regex_means() -> None:
    world = World(t=1, ua=1)
    world.join("a", "t", "missing")
    world.join("b", regex="u.")
    assert [world.group.subscribes(name) for name in ("t", "missing", "ua", "v")] == [
        True,
        True,
        True,
        False,
    ]


def test_members_that_want_the_same_have_one_set_of_names_between_them() -> None:
    world = World(t=1, ua=1)
    for member_id in ("a", "b", "c"):
        world.join(member_id, "t", "ua")
    world.join("d", "t")
    world.leave("a")
    world.join("e", "ua", "t")
    members = world.group.members
    assert members["b"].topics is members["c"].topics is members["e"].topics
    assert (members["d"].topics, members["e"].topics) == ({"t"}, {"t", "ua"})


def test_expressions_that_mean_the_same_have_one_set_of_names_between_them() -> None:
    world = World(ta=1, tb=1)
    for member_id, regex in (("a", "t."), ("b", "t.|x"), ("c", "t[ab]"), ("d", "ta")):
        world.join(member_id, regex=regex)
    found = world.group.regexes
    assert found["t."] is found["t.|x"] is found["t[ab]"] == {"ta", "tb"}
    assert found["ta"] == {"ta"}


class ComparedNames(frozenset[str]):
    compared = 0

    def __eq__(self, other: object) -> bool:
        ComparedNames.compared += 1
        return super().__eq__(other)

    __hash__ = frozenset.__hash__


def test_who_joins_is_not_compared_with_all_who_want_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ComparedNames, "compared", 0)
    group = ConsumerGroup("g")
    for number in range(100):
        names = ComparedNames([f"topic-{number}"])
        member = MemberSubscription(f"member-{number}", topics=names)
        group.apply(MemberChanged("g", member.member_id, member))
        group.apply(RegexResolved("g", f"topic-{number}|x", names))
    assert ComparedNames.compared <= 200


def test_names_that_nobody_wants_any_more_are_forgotten() -> None:
    names: RefCounts[frozenset[str]] = RefCounts({})
    first, second = (names.use(frozenset(["a", "b"])) for _ in range(2))
    assert first is second
    names.use(frozenset(["c"]))
    draft = RefCounts(Overlay(names.counts))
    draft.leave(first)
    assert (draft.use(frozenset(["b", "a"])) is first, len(draft)) == (True, 2)
    for one in (first, second, frozenset(["c"])):
        draft.leave(one)
    assert (len(names), len(draft)) == (2, 0)


def test_offsets_of_subscribed_topics_do_not_expire() -> None:
    group = one_member()
    assert group.offsets_expire_from("t", 5) is None
    assert group.offsets_expire_from("u", 5) == 5
