from __future__ import annotations

from domain.cluster.nodes import Node
from tests.fakes.classic_members import Member, stable
from tests.fakes.client import FakeKafka
from tests.fakes.groups import coordinate_on


def test_groups_of_another_coordinator_are_not_listed_and_members_do_not_time_out(
    kafka: FakeKafka,
) -> None:
    stable(kafka, Member(kafka, "g"))
    again = kafka.restarted()
    again.placement.add(Node(2))
    coordinate_on(again, 2)
    again.broker.start_upkeep()
    assert again.broker.groups.coordinator.list_groups((), ()) == []
    again.scheduler.advance(3_600_000)
    coordinate_on(again, 1)
    group = again.broker.groups.registry.find("g")
    assert group is not None and group.members
