"""What `ottla cluster health` and `describe` say of metadata."""

from __future__ import annotations

import argparse
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from interfaces.cli import cluster
from interfaces.cli.client import Clients
from interfaces.cli.cluster import health, highest_epochs, leader_problems, problems_of
from interfaces.cli.cluster_plan import Placed
from interfaces.cli.failures import CommandFailed
from interfaces.terminal.profiles import CLIENT_ID


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
    assert leader_problems(placed, in_full=False) == [
        "partitions of internal topics: 50 not led by their preferred leader, 1 without a leader "
        "(--internal names them)",
        "a-0 is led by 1, not by 3",
    ]
    in_full = leader_problems(placed, in_full=True)
    assert len(in_full) == 52
    assert in_full[50:] == ["__transaction_state-0 has no leader", "a-0 is led by 1, not by 3"]
    assert leader_problems({("__consumer_offsets", 0): led}, in_full=False) == []


def test_a_broker_has_the_highest_epoch_of_what_it_leads() -> None:
    placed = {("a", 0): Placed((1,), 1), ("a", 1): Placed((1,), 1), ("a", 2): Placed((2,), 2)}
    placed |= {("b", 0): Placed((3,), 3), ("b", 1): Placed((3,), -1)}
    epochs = {("a", 0): 4, ("a", 1): 9, ("a", 2): 0, ("b", 0): -1, ("b", 1): 8}
    found = highest_epochs(placed, epochs)
    assert [found.get(node_id) for node_id in (1, 2, 3)] == [9, 0, None]
    assert highest_epochs(placed, {}) == {}


class Refusing(Clients):
    """All brokers respond, but the group coordinator refuses."""

    code = KafkaError.COORDINATOR_NOT_AVAILABLE

    def admin(self) -> Any:
        refused: Future[None] = Future()
        refused.set_exception(KafkaException(KafkaError(self.code)))
        return SimpleNamespace(list_consumer_group_offsets=lambda _, **__: {CLIENT_ID: refused})

    def metadata(self, _: object) -> Any:
        return metadata(__consumer_offsets=[partition(1, 1, 2)])


class Silent(Refusing):
    def result(self, what: str, *_: object) -> Any:
        self.note("the network is slow (still waiting)")
        raise CommandFailed(f"{what}: no response")


LACKING = "1 partition without replica 3: __consumer_offsets-0"


@pytest.mark.parametrize(
    "clients, code, problems",
    [
        (Refusing, KafkaError.GROUP_AUTHORIZATION_FAILED, []),
        (Refusing, KafkaError.COORDINATOR_NOT_AVAILABLE, ["COORDINATOR_NOT_AVAILABLE"]),
        (Silent, 0, ["no response", "the network is slow"]),
    ],
)
def test_committed_offsets_must_be_served_to_those_who_may_see_them(
    clients: type[Refusing],
    code: int,
    problems: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(clients, "code", code)
    monkeypatch.setattr(cluster, "Clients", clients)
    parsed = argparse.Namespace(
        client_options=[], timeout=1.0, bootstrap_server="127.0.0.1:1", profile=None,
        command_config=None, watch=False, admin=None, output="table",
    )  # fmt: skip
    assert health(parsed) == 1
    first, *others = capsys.readouterr().out.splitlines()[1:]
    assert first == f"PROBLEM  {LACKING}"
    for line, expected in zip(others, problems, strict=True):
        assert expected in line
