"""What `ottla cluster health` and `describe` say of metadata; how brokers are unregistered."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from confluent_kafka import KafkaError, KafkaException

from interfaces.cli import cluster, rest
from interfaces.cli.client import Clients
from interfaces.cli.cluster import (
    health,
    highest_epochs,
    leader_problems,
    missing_brokers,
    problems_of,
    unregister,
)
from interfaces.cli.cluster_plan import Placed
from interfaces.cli.failures import CommandFailed
from interfaces.cli.running import run
from interfaces.kafka.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from interfaces.kafka.wire.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from interfaces.kafka.wire.schema import Request
from interfaces.main.arguments import parser
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


def test_a_partition_that_no_broker_has_registered_yet_has_no_leader() -> None:
    assert leader_problems({("a", 0): Placed((), -1)}, in_full=False) == ["a-0 has no leader"]


def test_a_broker_has_the_highest_epoch_of_what_it_leads() -> None:
    placed = {("a", 0): Placed((1,), 1), ("a", 1): Placed((1,), 1), ("a", 2): Placed((2,), 2)}
    placed |= {("b", 0): Placed((3,), 3), ("b", 1): Placed((3,), -1)}
    epochs = {("a", 0): 4, ("a", 1): 9, ("a", 2): 0, ("b", 0): -1, ("b", 1): 8}
    found = highest_epochs(placed, epochs)
    assert [found.get(node_id) for node_id in (1, 2, 3)] == [9, 0, None]
    assert highest_epochs(placed, {}) == {}


def test_leaders_and_replicas_that_are_not_listed_are_named() -> None:
    placed = {("a", 0): Placed((3, 1), 3), ("a", 1): Placed((1, 3), 3), ("a", 2): Placed((), -1)}
    placed[("b", 0)] = Placed((1, 4), 1)
    assert missing_brokers(placed, {1, 3, 4}) == []
    assert missing_brokers(placed, {1}) == [
        "broker 3 leads 2 partitions, but is not listed",
        "broker 4 is a replica of 1 partition, but is not listed",
    ]


class Asked(Clients):
    """librdkafka has broker 1, which leads; the connection to a broker has broker 2 as well."""

    versions: ClassVar[dict[int, int]] = {60: 2}

    def admin(self) -> Any:
        described: Future[Any] = Future()
        described.set_result(
            SimpleNamespace(nodes=[SimpleNamespace(id=1, host="h", port=1, rack=None)])
        )
        return SimpleNamespace(describe_cluster=lambda **_: described)

    def metadata(self, _: object) -> Any:
        found = metadata(a=[partition(2, 1, 2)])
        found.cluster_id = "c"
        return found

    @contextmanager
    def wire(self, what: str, address: object = None) -> Iterator[Any]:
        yield self

    def send(self, _: Request, version: int, response: type[Any]) -> Any:
        if response is not DescribeClusterResponse:
            raise CommandFailed("the brokers: no response within the timeout")
        ids = (2, 1) if version == 2 else (1,)
        brokers = [DescribeClusterBroker(one, "h", one, None, one == 2) for one in ids]
        return DescribeClusterResponse(brokers=brokers)


FENCED = "broker 2 is fenced: it is not alive, or cut off from the cluster"


@pytest.mark.parametrize(
    ("versions", "listed", "problem", "why"),
    [
        (
            {60: 2},
            [1, 2],
            FENCED,
            "no response within the timeout",
        ),
        ({60: 0}, [1], "broker 2 leads 1 partition, but is not listed", "no response within"),
        (
            {},
            [1],
            "broker 2 leads 1 partition, but is not listed",
            "does not serve DescribeCluster",
        ),
    ],
)
def test_what_cannot_be_asked_is_reported(
    versions: dict[int, int],
    listed: list[int],
    problem: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Asked, "versions", versions)
    monkeypatch.setattr(cluster, "Clients", Asked)
    command = ["cluster", "describe", "-b", "127.0.0.1:1", "-o", "json"]
    assert run(parser().parse_args(command)) == 0
    out, errors = capsys.readouterr()
    shown = json.loads(out)
    assert [one["id"] for one in shown["brokers"]] == listed
    assert problem in shown["problems"]
    assert errors.startswith("ottla: fenced brokers or leader epochs are not shown: the brokers: ")
    assert why in errors


SESSION = {"state": "ALIVE", "session_id": "3458764513820540927", "lease_ms": 6000}
ENDED = {"state": "FENCED", "session_id": None, "lease_ms": 0}


class Described(Clients):
    def admin(self) -> Any:
        return None


def described_with(*options: str, rows_of: str = "c", monkeypatch: pytest.MonkeyPatch) -> int:
    """Kafka's protocol has brokers 1 to 3 of cluster c; REST has 1, 2 and 4, and is asked once."""
    sessions: dict[int, dict[str, Any]] = {1: SESSION, 2: ENDED, 4: SESSION}
    rows = [{"broker_id": n, "cluster_id": rows_of, **one} for n, one in sessions.items()]

    def rest_of(*_: object) -> Any:
        return SimpleNamespace(get=lambda *asked: rows if asked == ("/brokers", "data") else None)

    def from_kafka(*_: object) -> dict[str, Any]:
        brokers = [{"id": node_id, "host": "h", "leaders": 5} for node_id in (1, 2, 3)]
        names = ("controller", "topics", "partitions")
        return {"cluster_id": "c", **dict.fromkeys(names, 1), "brokers": brokers, "problems": []}

    monkeypatch.setattr(cluster, "Clients", Described)
    monkeypatch.setattr(cluster, "_described", from_kafka)
    monkeypatch.setattr(rest, "rest_of", rest_of)
    return run(parser().parse_args(["cluster", "describe", "-b", "127.0.0.1:1", *options]))


@pytest.mark.parametrize("options", [("--sessions",), ("--admin", "127.0.0.1:2")])
def test_brokers_have_the_sessions_that_rest_has(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert described_with(*options, monkeypatch=monkeypatch) == 0
    head, *lines = [line.split() for line in capsys.readouterr().out.splitlines()[5:]]
    assert head[-3:] == ["STATE", "SESSION-ID", "LEASE-MS"]
    assert [line[-3:] for line in lines] == [
        ["ALIVE", "3458764513820540927", "6000"], ["FENCED", "-", "0"], ["-", "-", "-"],
    ]  # fmt: skip
    assert described_with(*options, "-o", "json", monkeypatch=monkeypatch) == 0
    first, second, third = json.loads(capsys.readouterr().out)["brokers"]
    assert first == {"id": 1, "host": "h", "leaders": 5, **SESSION}
    assert (second["session_id"], third["session_id"], third["leaders"]) == (None, None, 5)


def test_sessions_of_another_cluster_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert described_with("--sessions", rows_of="other", monkeypatch=monkeypatch) == 1
    message = "ottla: this REST is of another cluster: other, not c (--admin HOST:PORT)\n"
    assert capsys.readouterr() == ("", message)


def test_rest_is_not_asked_without_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert described_with(rows_of="other", monkeypatch=monkeypatch) == 0
    assert "SESSION-ID" not in capsys.readouterr().out


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


class Unregistering(Clients):
    """One broker with these APIs, and this response."""

    versions: ClassVar[dict[int, int]] = {60: 2, 64: 0}
    response = UnregisterBrokerResponse(error_message=None)
    sent: ClassVar[list[Request]]

    def __init__(self, _: argparse.Namespace) -> None:
        pass

    @contextmanager
    def wire(self, what: str, address: object = None) -> Iterator[Any]:
        yield self

    def send(self, request: Request, _: int, response: type[Any]) -> Any:
        self.sent.append(request)
        return self.response


@pytest.fixture
def unregistering(monkeypatch: pytest.MonkeyPatch) -> type[Unregistering]:
    class Found(Unregistering):
        sent: ClassVar[list[Request]] = []

    monkeypatch.setattr(cluster, "Clients", Found)
    return Found


def test_a_broker_is_unregistered(
    unregistering: type[Unregistering], capsys: pytest.CaptureFixture[str]
) -> None:
    assert unregister(argparse.Namespace(node=3)) == 0
    assert capsys.readouterr().out == "broker 3: unregistered\n"
    assert unregistering.sent == [UnregisterBrokerRequest(broker_id=3)]


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        (42, "Broker ID 3 is alive: stop it first", "Broker ID 3 is alive: stop it first"),
        (31, None, "Cluster authorization failed (CLUSTER_AUTHORIZATION_FAILED)"),
    ],
)
def test_a_refusal_to_unregister_a_broker_is_one_line(
    code: int,
    message: str | None,
    line: str,
    unregistering: type[Unregistering],
    capsys: pytest.CaptureFixture[str],
) -> None:
    unregistering.response = UnregisterBrokerResponse(error_code=code, error_message=message)
    assert run(argparse.Namespace(runs="cluster:unregister", node=3)) == 1
    assert capsys.readouterr() == ("", f"ottla: the registration of broker 3: {line}\n")


def test_a_cluster_that_cannot_unregister_brokers_is_named(
    unregistering: type[Unregistering],
) -> None:
    unregistering.versions = {60: 2}
    with pytest.raises(CommandFailed, match="does not serve UnregisterBroker"):
        unregister(argparse.Namespace(node=3))
    assert unregistering.sent == []
