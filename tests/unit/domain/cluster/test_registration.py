from __future__ import annotations

from collections import Counter

import pytest

from domain.cluster.nodes import NO_LEADER, Node
from domain.cluster.registration import PartitionRegistration, imbalanced, loads_of, place

THREE = [Node(3), Node(1), Node(2)]
LED_BY_1 = PartitionRegistration((1, 2, 3), 1, 4)


def test_leaders_of_new_partitions_go_round_the_brokers() -> None:
    assert [place(THREE, 1, start) for start in range(4)] == [(1,), (2,), (3,), (1,)]


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_replicas_are_different_brokers(factor: int) -> None:
    for start in range(12):
        assert len(set(place(THREE, factor, start))) == factor


def test_the_partitions_of_a_broker_have_different_next_replicas() -> None:
    placed = [place(THREE, 2, start) for start in range(12)]
    assert Counter(placed) == dict.fromkeys(
        [(one, other) for one in (1, 2, 3) for other in (1, 2, 3) if one != other], 2
    )


def test_racks_alternate() -> None:
    nodes = [Node(1, "a"), Node(2, "a"), Node(3, "a"), Node(4, "b")]
    racks = {node.node_id: node.rack for node in nodes}
    placed = [place(nodes, 2, start) for start in range(12)]
    assert all({racks[each] for each in replicas} == {"a", "b"} for replicas in placed)
    assert Counter(leader for leader, _ in placed) == {1: 3, 2: 3, 3: 3, 4: 3}
    assert sorted(place(nodes, 4, 0)) == [1, 2, 3, 4]


def test_the_first_living_replica_takes_a_partition_over() -> None:
    taken = LED_BY_1.taken_over({3: 5, 2: 9})
    assert taken == PartitionRegistration((1, 2, 3), 2, 5)


def test_without_a_living_replica_the_broker_with_the_fewest_partitions_leads() -> None:
    loads = {6: 2, 4: 1, 5: 1}
    taken = [LED_BY_1.taken_over(loads).leader for _ in range(4)]
    assert taken == [4, 5, 4, 5]
    shown = LED_BY_1.taken_over(loads).shown_replicas
    assert shown[:3] == (1, 2, 3)
    assert len(shown) == 4


def test_a_broker_that_stops_leaves_partitions_evenly_to_the_replicas() -> None:
    loads = loads_of([2, 3, 4], [LED_BY_1, PartitionRegistration((2,), 2, 0)])
    assert loads == {2: 1, 3: 0, 4: 0}
    assert [LED_BY_1.left(loads).leader for _ in range(3)] == [3, 2, 3]
    assert LED_BY_1.left({4: 8}) == PartitionRegistration((1, 2, 3), 4, 5)


def test_a_take_over_ends_a_reassignment() -> None:
    taken = LED_BY_1._replace(target=(5, 6)).taken_over({2: 0, 6: 0})
    assert taken == PartitionRegistration((5, 6), 6, 5)


def test_a_reassignment_moves_the_leader_to_the_first_living_replica() -> None:
    asked = LED_BY_1._replace(target=(4, 5))
    assert asked.is_reassigned
    assert asked.shown_replicas == (1, 2, 3, 4, 5)
    assert asked.at_target({1, 5}) == PartitionRegistration((4, 5), 5, 5)
    assert asked.at_target({1}) is asked


def test_a_leader_that_is_in_the_new_replicas_stays() -> None:
    asked = LED_BY_1._replace(target=(4, 1))
    assert asked.at_target({1, 4}) == PartitionRegistration((4, 1), 1, 4)


def test_the_preferred_leader_leads_if_it_is_alive() -> None:
    led = PartitionRegistration((1, 2), 2, 4, target=(1, 2))
    assert not led.is_reassigned
    assert led.at_target({1, 2}) == PartitionRegistration((1, 2), 1, 5)
    assert led.at_target({2}) == PartitionRegistration((1, 2), 2, 4)
    without_target = led._replace(target=())
    assert without_target.at_target({1, 2}) == without_target


def test_a_raised_epoch_has_the_same_leader() -> None:
    assert LED_BY_1.raised().led == (1, 5)
    assert PartitionRegistration((1,), NO_LEADER.node_id, 0).shown_replicas == (1,)


def test_partitions_are_imbalanced_while_a_living_preferred_leader_does_not_lead() -> None:
    elsewhere = PartitionRegistration((2, 1), 1, 0)
    registrations = {
        7: LED_BY_1,
        8: elsewhere,
        9: elsewhere._replace(target=(2, 1)),
        10: PartitionRegistration((3, 1), 1, 0),
    }
    assert list(imbalanced(registrations, {1, 2})) == [8]
