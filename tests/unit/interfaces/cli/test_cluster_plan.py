from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from interfaces.cli.cluster_plan import Place, Placed, Plan, balanced, drained, removed


def placed(*replicas: tuple[int, ...]) -> dict[Place, Placed]:
    return {("t", index): Placed(each, each[0]) for index, each in enumerate(replicas)}


def after(before: Mapping[Place, Placed], plan: Plan) -> list[tuple[int, ...]]:
    return [plan.get(place, one.replicas) for place, one in before.items()]


def spread(replicas: Collection[tuple[int, ...]]) -> tuple[Counter[int], Counter[int]]:
    """Of replicas and of preferred leaders."""
    return Counter(one for each in replicas for one in each), Counter(each[0] for each in replicas)


def of_topics(
    before: Mapping[Place, Placed], plan: Plan, brokers: Collection[int]
) -> Iterator[tuple[int, ...]]:
    """How many partitions of each topic brokers should lead."""
    leads = Counter((place[0], plan.get(place, one.replicas)[0]) for place, one in before.items())
    for name in {name for name, _ in before}:
        yield tuple(leads[name, each] for each in brokers)


def test_a_new_broker_gets_its_share_and_nothing_else_moves() -> None:
    before = placed(*[(1,)] * 3, *[(2,)] * 3)
    plan = balanced(before, [1, 2, 3])
    assert len(plan) == 2
    assert spread(after(before, plan))[0] == {1: 2, 2: 2, 3: 2}


def test_a_balanced_cluster_stays_as_it_is() -> None:
    assert balanced(placed((1, 2), (2, 3), (3, 1), (1, 3)), [1, 2, 3]) == {}
    assert balanced({}, [1]) == {}


def test_leaders_are_balanced_among_the_replicas() -> None:
    before = placed(*[(1, 2)] * 4)
    plan = balanced(before, [1, 2])
    assert spread(after(before, plan)) == ({1: 4, 2: 4}, {1: 2, 2: 2})
    assert set(plan.values()) == {(2, 1)}


def test_leaders_are_passed_on_by_other_brokers() -> None:
    """1 and 3 share no partition."""
    before = placed((1, 2), (1, 2), (1, 2), (2, 3), (3, 2), (2, 3))
    found = after(before, balanced(before, [1, 2, 3]))
    assert set(spread(found)[1].values()) == {2}


def test_replicas_of_a_broker_that_is_not_alive_move_if_another_one_is_free() -> None:
    before = placed((3, 1), (1, 3))
    assert sorted(balanced(before, [1, 2]).values()) == [(1, 2), (2, 1)]
    before = placed((1, 2, 3), (3, 2, 1))
    found = after(before, balanced(before, [1, 2]))
    assert found == [(1, 2, 3), (2, 1, 3)], "the number of replicas stays"


def test_random_clusters_are_even() -> None:
    chance = random.Random(7)
    for _ in range(100):
        brokers = list(range(1, chance.randint(2, 7)))
        factor = chance.randint(1, len(brokers))
        before = placed(
            *(tuple(chance.sample(brokers, factor)) for _ in range(chance.randint(1, 60)))
        )
        found = after(before, balanced(before, brokers))
        assert all(len(set(each)) == factor for each in found)
        for counts in spread(found):
            numbers = [counts[each] for each in brokers]
            assert max(numbers) - min(numbers) <= 1


def test_each_topic_is_even_by_as_few_moves_as_possible() -> None:
    """All together are even before: 1 has all of a, 2 all of b."""
    before = {
        (name, index): Placed((leader,), leader)
        for name, leader in (("a", 1), ("b", 2))
        for index in range(4)
    }
    plan = balanced(before, [1, 2])
    assert Counter(name for name, _ in plan) == {"a": 2, "b": 2}
    assert set(of_topics(before, plan, [1, 2])) == {(2, 2)}


def test_leaders_of_each_topic_are_even_among_the_replicas() -> None:
    before = {
        (name, index): Placed((leader, 3 - leader), leader)
        for name, leader in (("a", 1), ("b", 2))
        for index in range(3)
    }
    plan = balanced(before, [1, 2])
    assert len(plan) == 2
    assert spread(after(before, plan))[1] == {1: 3, 2: 3}


def test_random_topics_are_even_each_and_together() -> None:
    chance = random.Random(7)
    for _ in range(100):
        brokers = list(range(1, chance.randint(3, 7)))
        factor = chance.randint(1, len(brokers))
        before: dict[Place, Placed] = {}
        for name in "abcdef"[: chance.randint(1, 6)]:
            on = chance.sample(brokers, chance.randint(factor, len(brokers)))
            for index in range(chance.randint(1, 20)):
                replicas = tuple(chance.sample(on, factor))
                before[name, index] = Placed(replicas, replicas[0])
        plan = balanced(before, brokers)
        found = after(before, plan)
        assert all(len(set(each)) == factor for each in found)
        totals = [[counts[each] for each in brokers] for counts in spread(found)]
        for counts in (*totals, *of_topics(before, plan, brokers)):
            assert max(counts) - min(counts) <= 1
        even = {place: Placed(each, each[0]) for place, each in zip(before, found, strict=True)}
        assert balanced(even, brokers) == {}


def test_a_drained_broker_is_the_last_replica_and_others_share_its_leaders() -> None:
    before = placed((3, 1, 2), (3, 2, 1), (1, 3, 2), (2, 3, 1), (3, 1, 2), (3, 1, 2))
    found = after(before, drained(before, 3, [1, 2, 3]))
    assert found[2:4] == [(1, 3, 2), (2, 3, 1)], "3 is not to lead these"
    assert spread(found) == ({1: 6, 2: 6, 3: 6}, {1: 3, 2: 3})
    assert all(each[-1] == 3 for each in found[:2] + found[4:])


def test_a_drained_broker_gets_its_share_again() -> None:
    before = placed(*[(1, 2, 3), (2, 3, 1), (3, 1, 2)] * 4)
    away = after(before, drained(before, 3, [1, 2, 3]))
    back = after(placed(*away), balanced(placed(*away), [1, 2, 3]))
    assert spread(back) == spread(after(before, {}))


def test_a_drained_broker_without_another_living_replica_is_replaced() -> None:
    before = placed((3,), (3, 2), (3,))
    assert drained(before, 3, [1, 3]) == {("t", 0): (1,), ("t", 1): (1, 2), ("t", 2): (1,)}


def test_a_drained_broker_that_leads_for_another_one_needs_no_reassignment() -> None:
    before = {("t", 0): Placed((1, 3), 3), ("t", 1): Placed((2, 3, 1), 3)}
    assert drained(before, 3, [1, 3]) == {("t", 1): (1, 2, 3)}, "2 is not alive"


def test_a_removed_broker_has_no_replica_and_the_others_share_its_partitions() -> None:
    before = placed(*[(3,)] * 4, (1,), (2,))
    plan = removed(before, 3, [1, 2, 3])
    assert spread(after(before, plan))[0] == {1: 3, 2: 3}
    assert len(plan) == 4


def test_a_partition_of_all_brokers_has_one_replica_less_after_a_removal() -> None:
    before = placed((3, 1, 2), (1, 2, 3))
    assert after(before, removed(before, 3, [1, 2, 3])) == [(1, 2), (1, 2)]


def test_a_broker_that_is_fenced_can_be_drained_and_removed() -> None:
    before = {("t", 0): Placed((3, 1), 1)}
    assert drained(before, 3, [1, 2]) == {("t", 0): (1, 3)}
    assert removed(before, 3, [1, 2]) == {("t", 0): (2, 1)}
