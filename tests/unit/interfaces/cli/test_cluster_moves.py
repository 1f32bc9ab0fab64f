"""What `ottla cluster balance` and `drain` print of what they move."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from interfaces.cli import cluster_moves
from interfaces.cli.cluster_moves import balance, drain
from interfaces.cli.cluster_plan import Place, Placed, Plan
from interfaces.cli.failures import CommandFailed


class Cluster:
    """The clients of a command, and brokers 1 and 2, which do what is requested."""

    timeout_s = 1.0

    def __init__(self, **topics: list[tuple[int, ...]]) -> None:
        """The replicas of each partition, of which the first one leads."""
        self.placed = {
            (name, index): Placed(replicas, next(iter(replicas), -1))
            for name, partitions in topics.items()
            for index, replicas in enumerate(partitions)
        }

    def admin(self) -> None:
        return None

    def metadata(self, _: None) -> Any:
        topics: dict[str, Any] = {
            name: SimpleNamespace(partitions={}) for name, _index in self.placed
        }
        for (name, index), one in self.placed.items():
            topics[name].partitions[index] = one
        return SimpleNamespace(brokers={1: None, 2: None}, topics=topics)

    def reassign(self, plan: Plan) -> dict[Place, str]:
        for place, after in plan.items():
            leader = self.placed[place].leader
            self.placed[place] = Placed(after, leader if leader in after else after[0])
        return {}

    def elect(self, places: Iterable[Place]) -> dict[Place, str]:
        for place in places:
            replicas = self.placed[place].replicas
            self.placed[place] = Placed(replicas, replicas[0])
        return {}


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster(
        __consumer_offsets=[(1,)] * 4, __transaction_state=[(2, 1)], orders=[(1,), (1,), (2, 1)]
    )
    monkeypatch.setattr(cluster_moves, "Clients", lambda _: found)
    monkeypatch.setattr(cluster_moves, "reassignments", lambda _: {})
    monkeypatch.setattr(cluster_moves, "reassign", Cluster.reassign)
    monkeypatch.setattr(cluster_moves, "elect_preferred", Cluster.elect)
    return found


def options(**more: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"internal": False, "dry_run": False, "node": 2, **more})


def test_only_reassignments_that_are_not_refused_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = {("orders", 2): "it is being deleted"}
    monkeypatch.setattr(cluster_moves, "reassign", lambda *_: refused)
    with pytest.raises(CommandFailed, match="orders-2: it is being deleted"):
        drain(options(remove=False, internal=True))
    assert capsys.readouterr().out == "__transaction_state-0: 2,1 -> 1,2\n"


def test_moved_partitions_of_internal_topics_have_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert drain(options(remove=False, dry_run=True)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "orders-2: 2,1 -> 1,2",
        "orders-2: leader 2 -> 1",
        "partitions of internal topics: 1 reassigned, 1 with an elected leader (--internal names "
        "them)",
        "2 reassignments, 2 elections (dry run)",
    ]
    assert drain(options(remove=False, internal=True)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "__transaction_state-0: 2,1 -> 1,2",
        "orders-2: 2,1 -> 1,2",
        "__transaction_state-0: leader 2 -> 1",
        "orders-2: leader 2 -> 1",
        "2 reassignments, 2 elections; broker 2 leads no partition",
    ]


def test_a_dry_run_prints_the_same_lines(capsys: pytest.CaptureFixture[str]) -> None:
    balance(options(dry_run=True))
    *planned, counts = capsys.readouterr().out.splitlines()
    assert planned[-1] == (
        "partitions of internal topics: 3 reassigned, 1 with an elected leader (--internal names "
        "them)"
    )
    assert not any("__" in line for line in planned)
    balance(options())
    assert capsys.readouterr().out.splitlines() == [*planned, counts.removesuffix(" (dry run)")]
    balance(options())
    assert capsys.readouterr().out == "0 reassignments, 0 elections\n"


def test_a_partition_that_no_broker_has_registered_yet_is_left_alone(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """As when a store was copied to PostgreSQL, in the first moments."""
    cluster.placed = {("orders", 0): Placed((), -1), ("orders", 1): Placed((1,), 1)}
    assert balance(options()) == 0
    assert capsys.readouterr().out == "0 reassignments, 0 elections\n"
