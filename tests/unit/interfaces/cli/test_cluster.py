"""What `ottla cluster health` and `describe` say of metadata."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from interfaces.cli.cluster import leader_problems, problems_of
from interfaces.cli.cluster_plan import Placed


def partition(leader: int, *in_sync: int) -> SimpleNamespace:
    return SimpleNamespace(leader=leader, replicas=[1, 2, 3], isrs=list(in_sync))


def metadata(**topics: list[SimpleNamespace]) -> Any:
    return SimpleNamespace(
        brokers={1: None},
        controller_id=1,
        topics={
            name: SimpleNamespace(partitions=dict(enumerate(partitions)))
            for name, partitions in topics.items()
        },
    )


def test_partitions_with_the_same_problem_are_counted() -> None:
    lacking, leaderless = partition(1, 1, 3), partition(-1)
    found = problems_of(metadata(b=[leaderless, lacking], a=[lacking] * 50, c=[partition(1, 1)]))
    assert found == [
        "51 partitions without replica 2: a-0, a-1, a-2 and 48 more",
        "1 partition without a leader: b-0",
        "1 partition without replica 2, 3: c-0",
    ]


def test_a_cluster_without_problems_has_none() -> None:
    assert problems_of(metadata(a=[partition(1, 3, 1, 2)])) == []


def test_internal_topics_have_one_line() -> None:
    led, moved, leaderless = Placed((3, 1), 3), Placed((3, 1), 1), Placed((3, 1), -1)
    placed = {("__consumer_offsets", index): moved for index in range(50)}
    placed |= {("__transaction_state", 0): leaderless, ("a", 0): moved, ("a", 1): led}
    assert list(leader_problems(placed, in_full=False)) == [
        "a-0 is led by 1, not by 3",
        "partitions of internal topics: 50 not led by their preferred leader, 1 without a leader "
        "(--internal names them)",
    ]
    in_full = list(leader_problems(placed, in_full=True))
    assert len(in_full) == 52
    assert in_full[50:] == ["__transaction_state-0 has no leader", "a-0 is led by 1, not by 3"]
    assert list(leader_problems({("__consumer_offsets", 0): led}, in_full=False)) == []
