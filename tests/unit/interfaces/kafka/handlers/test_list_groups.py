from __future__ import annotations

import pytest

from domain.groups.classic.group import ClassicGroup
from interfaces.kafka.wire.messages.list_groups import ListedGroup, ListGroupsRequest
from tests.fakes.classic_members import Member, stable
from tests.fakes.client import FakeClient, FakeKafka


@pytest.fixture
def kafka() -> FakeKafka:
    """A stable group, one that is rebalancing, and one without a protocol."""
    kafka = FakeKafka()
    stable(kafka, Member(kafka, "stable"))
    stable(kafka, Member(kafka, "preparing"))
    Member(kafka, "preparing").begin_join()
    kafka.broker.groups.registry.put(ClassicGroup("simple"))
    return kafka


@pytest.mark.parametrize("version", [0, 3, 4, 5])
def test_all_groups_are_listed(client: FakeClient, version: int) -> None:
    answer = client.ask(ListGroupsRequest(), version)
    assert answer.error_code == 0
    assert sorted(answer.groups, key=lambda one: one.group_id) == [
        ListedGroup(
            group_id=group_id,
            protocol_type=protocol_type,
            group_state=state if version >= 4 else "",
            group_type="classic" if version >= 5 else "",
        )
        for group_id, protocol_type, state in (
            ("preparing", "consumer", "PreparingRebalance"),
            ("simple", "", "Empty"),
            ("stable", "consumer", "Stable"),
        )
    ]


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        (["Stable"], [], ["stable"]),
        (["STABLE", "empty"], [], ["simple", "stable"]),
        (["preparingrebalance"], [], ["preparing"]),
        (["Dead"], [], []),
        (["no such state"], [], []),
        ([], ["classic"], ["preparing", "simple", "stable"]),
        ([], ["CLASSIC"], ["preparing", "simple", "stable"]),
        ([], ["consumer"], []),
        ([], ["no such type"], []),
        (["stable"], ["classic"], ["stable"]),
        (["stable"], ["consumer"], []),
    ],
)
def test_filters_ignore_case_and_both_must_match(
    client: FakeClient, states: list[str], types: list[str], found: list[str]
) -> None:
    """Types from version 5 on."""
    request = ListGroupsRequest(states_filter=states, types_filter=types)
    for version in (5,) if types else (4, 5):
        assert sorted(one.group_id for one in client.ask(request, version).groups) == found


def test_groups_of_another_coordinator_are_not_listed_and_members_do_not_time_out() -> None:
    kafka = FakeKafka()
    stable(kafka, Member(kafka, "g"))
    again = kafka.restarted()
    again.placement.coordinators["g"] = 2
    again.broker.start_upkeep()
    assert again.broker.groups.coordinator.list_groups((), ()) == []
    again.scheduler.advance(3_600_000)
    group = again.broker.groups.registry.find("g")
    assert group is not None and group.members
