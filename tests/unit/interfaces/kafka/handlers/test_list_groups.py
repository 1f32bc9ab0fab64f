from __future__ import annotations

import pytest

from domain.groups.classic.group import ClassicGroup
from interfaces.kafka.wire.messages.list_groups import ListedGroup, ListGroupsRequest
from tests.fakes.classic_members import Member, stable
from tests.fakes.client import FakeKafka


def cluster() -> FakeKafka:
    """A stable group, one that is rebalancing, and a simple one."""
    kafka = FakeKafka()
    stable(kafka, Member(kafka, "stable"))
    stable(kafka, Member(kafka, "preparing"))
    Member(kafka, "preparing").begin_join()
    kafka.broker.groups.registry.put(ClassicGroup("simple"))
    return kafka


def names(kafka: FakeKafka, version: int, states: list[str], types: list[str]) -> list[str]:
    asked = ListGroupsRequest(states_filter=states, types_filter=types)
    answer = kafka.client().ask(asked, version)
    assert answer.error_code == 0
    return sorted(one.group_id for one in answer.groups)


@pytest.mark.parametrize("version", range(6))
def test_all_groups_are_listed(version: int) -> None:
    answer = cluster().client().ask(ListGroupsRequest(), version)
    rows = [
        ("preparing", "consumer", "PreparingRebalance"),
        ("simple", "", "Empty"),
        ("stable", "consumer", "Stable"),
    ]
    assert sorted(answer.groups, key=lambda one: one.group_id) == [
        ListedGroup(
            group_id=group_id,
            protocol_type=protocol_type,
            group_state=state if version >= 4 else "",
            group_type="classic" if version >= 5 else "",
        )
        for group_id, protocol_type, state in rows
    ]


@pytest.mark.parametrize(
    ("states", "found"),
    [
        (["Stable"], ["stable"]),
        (["STABLE", "empty"], ["simple", "stable"]),
        (["preparingrebalance"], ["preparing"]),
        (["Dead"], []),
        (["no such state"], []),
    ],
)
@pytest.mark.parametrize("version", [4, 5])
def test_states_are_found_in_any_spelling(
    version: int, states: list[str], found: list[str]
) -> None:
    assert names(cluster(), version, states, []) == found


@pytest.mark.parametrize(
    ("types", "found"),
    [(["classic"], 3), (["CLASSIC"], 3), (["consumer"], 0), (["no such type"], 0)],
)
def test_types_are_found_in_any_spelling(types: list[str], found: int) -> None:
    assert len(names(cluster(), 5, [], types)) == found


def test_both_filters_have_to_match() -> None:
    assert names(cluster(), 5, ["stable"], ["classic"]) == ["stable"]
    assert names(cluster(), 5, ["stable"], ["consumer"]) == []


def test_the_groups_of_another_node_are_neither_listed_nor_timed_out() -> None:
    kafka = FakeKafka()
    stable(kafka, Member(kafka, "g"))
    again = kafka.restarted()
    again.placement.coordinators["g"] = 2
    again.broker.start_upkeep()
    assert again.broker.groups.coordinator.list_groups((), ()) == []
    again.scheduler.advance(3_600_000)
    group = again.broker.groups.registry.find("g")
    assert group is not None and group.members
