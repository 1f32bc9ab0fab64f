from __future__ import annotations

from application.groups.lag import owners
from domain.groups.embedded_protocol import write_assignment
from domain.groups.group import Group, GroupMember
from tests.fakes.classic_members import Member, join_all
from tests.fakes.client import FakeKafka
from tests.fakes.mixed_group import Modern, classic


def group(kafka: FakeKafka) -> Group:
    found = kafka.broker.groups.registry.find("g")
    assert found is not None
    return found


def of(kafka: FakeKafka) -> list[GroupMember]:
    return list(group(kafka).assigned_members(kafka.broker.catalog.topic_by_id))


def stable(kafka: FakeKafka, assignment: bytes) -> Member:
    kafka.topic("t", 4)
    member = classic(kafka)
    join_all(member)
    assert member.sync({member.member_id: assignment}).error_code == 0
    return member


def test_members_of_a_classic_group_have_the_assignment_of_the_leader() -> None:
    kafka = FakeKafka()
    member = stable(kafka, write_assignment(1, {"t": [2, 0], "a": [1]}))
    [found] = of(kafka)
    assert found.member_id == member.member_id
    assert (found.client_id, found.client_host) == ("a-client", "/192.0.2.7")
    assert found.assigned == {"a": (1,), "t": (0, 2)}
    assert group(kafka).assignor(("uniform",)) == "range"


def test_during_a_rebalance_members_have_no_partitions() -> None:
    kafka = FakeKafka()
    stable(kafka, write_assignment(1, {"t": [0]}))
    classic(kafka).begin_join(version=3)
    kafka.run()
    assert group(kafka).state_name == "PreparingRebalance"
    assert [member.assigned for member in of(kafka)] == [{}] * len(of(kafka))
    assert group(kafka).assignor(("uniform",)) == ""


def test_an_unreadable_assignment_has_no_partitions() -> None:
    kafka = FakeKafka()
    stable(kafka, b"\0\1 something else")
    assert [member.assigned for member in of(kafka)] == [{}]


def test_members_of_a_consumer_group_have_the_assignment_of_the_broker() -> None:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    modern = Modern(kafka)
    assert modern.join().error_code == 0
    modern.beat()
    [found] = of(kafka)
    assert (found.member_id, found.assigned) == ("m", {"t": (0, 1)})
    assert owners(group(kafka), kafka.broker.catalog).keys() == {("t", 0), ("t", 1)}
    assert group(kafka).assignor(("uniform",)) == "uniform"
