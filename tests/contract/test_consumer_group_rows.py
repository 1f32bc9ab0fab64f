"""The rows of consumer groups over every engine."""

from __future__ import annotations

from domain.groups.consumer.changes import (
    AssignmentChanged,
    EpochChanged,
    MemberChanged,
    RegexResolved,
    TargetChanged,
    TargetEpochChanged,
)
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.member import (
    ClassicMembership,
    CurrentAssignment,
    MemberState,
    MemberSubscription,
)
from domain.groups.group import GroupChange
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from tests.contract.engines import OpenStore

TOPIC, OTHER = b"\x01" * 16, b"\xff" * 16

MODERN = MemberSubscription(
    "m-ä",
    instance_id="i",
    rack_id="r",
    client_id="c",
    client_host="/10.0.0.1",
    rebalance_timeout_ms=5,
    server_assignor="range",
    topics=frozenset({"t", "u"}),
    regex="a.*",
)
CLASSIC = MemberSubscription(
    "n", classic=ClassicMembership(6000, (("range", b"\x00\x01"), ("roundrobin", b"")))
)
CURRENT = CurrentAssignment(
    MemberState.UNREVOKED_PARTITIONS,
    4,
    3,
    {TOPIC: frozenset({0, 2}), OTHER: frozenset({7})},
    {OTHER: frozenset({1})},
)
ALL: list[GroupChange] = [
    EpochChanged("g", 5, "a-hash"),
    MemberChanged("g", "m-ä", MODERN),
    MemberChanged("g", "n", CLASSIC),
    TargetEpochChanged("g", 4),
    TargetChanged("g", "m-ä", {TOPIC: frozenset({0})}),
    TargetChanged("g", "n", {}),
    AssignmentChanged("g", "m-ä", CURRENT),
    RegexResolved("g", "a.*", frozenset({"ab", "ac"})),
    RegexResolved("g", "nothing", frozenset()),
]


def test_every_change_is_loaded_unchanged_in_an_applicable_order(
    store: OpenStore,
) -> None:
    groups = StoredGroupRepository(store.state)
    for change in reversed(ALL):
        groups.save(change)
    store.keep()
    assert list(groups.load("g")) == ALL


def test_the_newest_change_is_loaded(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    groups.save(TargetEpochChanged("g", 4))
    store.keep()
    groups.save(TargetEpochChanged("g", 5))
    store.keep()
    assert list(groups.load()) == [TargetEpochChanged("g", 5)]


def test_a_change_to_none_deletes_the_row(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    for change in ALL:
        groups.save(change)
    store.keep()
    group = ConsumerGroup(ALL[0].group_id)
    for change in ALL:
        group.apply(change)
    for change in group.deletion():
        groups.save(change)
    store.keep()
    assert list(groups.load()) == []


def test_rows_of_groups_are_separate(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    for name in ("g", "gg", "g\0m"):
        groups.save(EpochChanged(name, 1, ""))
    store.keep()
    assert list(groups.load("g")) == [EpochChanged("g", 1, "")]
    assert {change.group_id for change in groups.load()} == {"g", "gg", "g\0m"}
