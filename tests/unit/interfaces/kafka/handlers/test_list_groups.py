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
    response = client.request(ListGroupsRequest(), version)
    assert response.error_code == 0
    assert sorted(response.groups, key=lambda one: one.group_id) == [
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
