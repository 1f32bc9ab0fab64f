"""The checker finds what it is there for: each kind of broken history, and none in a good one."""

from __future__ import annotations

from tests.e2e.groups.churn.history import (
    GroupChecker,
    Report,
    View,
    held_by_two,
    lost,
    repeated,
)

A, B, C = ("t", 0), ("t", 1), ("t", 2)
EVERYTHING = frozenset({A, B, C})


def checker(eager: bool = True) -> GroupChecker:
    return GroupChecker("g", EVERYTHING, eager)


def view(*held: set[tuple[str, int]], stable: bool = True, epoch: int = -1) -> View:
    assigned = {f"member-{number}": frozenset(places) for number, places in enumerate(held)}
    return View("g", stable, assigned, epoch=epoch)


def test_a_valid_history_has_no_violations() -> None:
    group = checker()
    for seen in (view({A, B, C}), view(set(), set(), stable=False), view({A}, {B, C}), view()):
        group.saw(seen)
    for offsets in ({}, {A: 3}, {A: 3, B: 1}, {A: 10, B: 1}):
        group.fetched(offsets)
    assert group.wrong == []
    assert (group.views, group.stable_views, group.polls) == (4, 3, 4)
    assert lost(["1", "2"], ["2", "1", "2"]) == []
    assert repeated(["2", "1", "2"]) == 1


def test_a_lost_record_is_named() -> None:
    assert lost(["1", "2", "10", "3"], ["1", "3"]) == ["2", "10"]


def test_an_offset_that_goes_back_is_found() -> None:
    group = checker()
    group.fetched({A: 7, B: 2})
    group.fetched({A: 6, B: 3})
    assert group.wrong == ["g: ('t', 0) went from 7 back to 6"]


def test_an_offset_that_disappears_is_found() -> None:
    group = checker()
    group.fetched({A: 7, B: 2})
    group.fetched({A: 7})
    assert group.wrong == ["g: the offset of ('t', 1) is gone"]


def test_a_partition_with_two_owners_is_found() -> None:
    for eager in (True, False):
        group = checker(eager)
        group.saw(view({A, B}, {B, C}))
        [wrong] = group.wrong
        assert "('t', 1) is assigned to two members" in wrong


def test_two_owners_are_found_while_a_consumer_group_reconciles() -> None:
    group = checker(eager=False)
    twice = {"a": frozenset({A}), "b": frozenset({A})}
    group.saw(View("g", False, twice, target={"a": frozenset({A}), "b": frozenset({B})}))
    group.saw(View("g", False, {}, target=twice))
    assert ["is assigned" in wrong for wrong in group.wrong] == [True, False]


def test_a_partition_without_an_owner_is_found_in_an_eager_generation_only() -> None:
    eager, cooperative = checker(), checker(eager=False)
    for group in (eager, cooperative):
        group.saw(view({A}, {B}, stable=False))
        group.saw(view({A}, {B}))
    assert len(eager.wrong) == 1
    assert cooperative.wrong == []


def test_a_group_with_a_free_partition_is_not_stable() -> None:
    group = checker(eager=False)
    assert not group.settled(view({A}, {B}))
    assert not group.settled(view({A, B}, {B, C}))
    assert not group.settled(view({A, B}, {C}, stable=False))
    assert not group.settled(view())
    assert group.settled(view({A, B}, {C}))


def test_an_epoch_that_goes_back_is_found() -> None:
    group = checker(eager=False)
    for epoch in (3, 4, 4, 2):
        group.saw(view({A, B, C}, epoch=epoch))
    assert group.wrong == ["g: its epoch went from 4 to 2"]


def test_two_members_that_own_a_partition_in_one_generation_are_found() -> None:
    first = Report("g", 5, "one", frozenset({A, B}))
    assert held_by_two([first, Report("g", 5, "two", frozenset({B}))]) == [
        "('g', 5, ('t', 1)) is held by one and by two"
    ]


def test_a_later_generation_or_the_same_static_member_may_own_it_too() -> None:
    first = Report("g", 5, "one", frozenset({A}))
    for other in (
        Report("g", 6, "two", frozenset({A})),
        Report("h", 5, "two", frozenset({A})),
        Report("g", -1, "two", frozenset({A})),
        Report("g", 5, "one", frozenset({A})),
    ):
        assert held_by_two([first, other]) == []
