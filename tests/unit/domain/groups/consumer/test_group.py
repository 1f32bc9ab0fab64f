from __future__ import annotations

import pytest

from domain.groups.consumer.changes import MemberChanged, RegexResolved
from domain.groups.consumer.draft import Overlay
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import MemberSubscription
from domain.groups.consumer.subscription import RefCounts
from tests.unit.domain.groups.consumer.world import World


def one_member() -> ConsumerGroup:
    world = World(t=1)
    world.join("a", "t")
    return world.group


def test_a_group_subscribes_to_names_and_regexes_of_its_members() -> None:
    world = World(t=1, ua=1)
    world.join("a", "t", "missing")
    world.join("b", regex="u.")
    assert [world.group.subscribes(name) for name in ("t", "missing", "ua", "v")] == [
        True,
        True,
        True,
        False,
    ]


def test_members_with_the_same_topics_share_one_set() -> None:
    world = World(t=1, ua=1)
    for member_id in ("a", "b", "c"):
        world.join(member_id, "t", "ua")
    world.join("d", "t")
    world.leave("a")
    world.join("e", "ua", "t")
    members = world.group.members
    assert members["b"].topics is members["c"].topics is members["e"].topics
    assert (members["d"].topics, members["e"].topics) == ({"t"}, {"t", "ua"})


def test_regexes_with_the_same_topics_share_one_set() -> None:
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


def test_a_join_is_not_compared_with_all_other_subscriptions(
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


def test_unused_sets_of_topics_are_removed() -> None:
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
