"""Kafka's own tools place, elect and reassign replicas; with --long on Apache Kafka too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.bench.brokers import kafka_nodes
from tests.e2e.broker_process import wait_until
from tests.e2e.cluster.brokers import Brokers
from tests.e2e.conftest import unused_topic_name
from tests.e2e.groups.kafka_tools import run_tool, started_tools
from tests.e2e.line_process import LineProcess
from tests.oracle.kafka import KafkaNotFound, find_jars

_ROW = re.compile(r"Partition: (\d+)\s+Leader: (\S+)\s+Replicas: (\S+)\s+Isr: (\S+)")
#: As each partition is created: its preferred leader and another replica.
PLACES = {0: (1, 2), 1: (2, 3), 2: (3, 1)}


class Row(NamedTuple):
    leader: int
    replicas: tuple[int, ...]
    in_sync: set[int]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineProcess]:
    process = started_tools(tmp_path_factory.mktemp("tools"))
    yield process
    process.close()


@pytest.fixture(params=["ottla", pytest.param("kafka", marks=pytest.mark.long)])
def bootstrap(request: pytest.FixtureRequest) -> str:
    """Brokers 1, 2 and 3."""
    if request.param == "kafka":
        return str(request.getfixturevalue("three_kafkas"))
    cluster: Brokers = request.getfixturevalue("cluster")
    return cluster.bootstrap


@pytest.fixture(scope="module")
def three_kafkas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        contender = kafka_nodes(find_jars())
    except KafkaNotFound as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("kafka") / "nodes"
    contender.prepare(folder)
    started = contender.start(folder)
    yield ",".join(node.address for node in started.nodes)
    started.kill()


class Tools:
    def __init__(self, process: LineProcess, bootstrap: str, folder: Path) -> None:
        self._process, self._bootstrap, self._folder = process, bootstrap, folder

    def run(self, name: str, *arguments: str) -> str:
        return run_tool(self._process, name, self._bootstrap, *arguments)

    def topics(self, *arguments: str) -> str:
        return self.run("kafka-topics", *arguments)

    def rows(self, topic: str, *options: str) -> dict[int, Row]:
        printed = self.topics("--describe", "--topic", topic, *options)
        return {
            int(index): Row(int(leader), _numbers(replicas), set(_numbers(in_sync)))
            for index, leader, replicas, in_sync in _ROW.findall(printed)
        }

    def wait_for(self, topic: str, *expected: Row) -> None:
        """Each broker follows the metadata for itself."""
        wait_until(lambda: self.rows(topic) == dict(enumerate(expected)))

    def reassign(self, action: str, partitions: list[dict[str, object]]) -> str:
        file = self._folder / "moves.json"
        file.write_text(json.dumps({"version": 1, "partitions": partitions}))
        chosen = ("--reassignment-json-file", str(file))
        return self.run("kafka-reassign-partitions", *chosen, action)

    def elect(self, topic: str, partition: int) -> str:
        chosen = ("--topic", topic, "--partition", str(partition))
        return self.run("kafka-leader-election", "--election-type", "preferred", *chosen)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def at_home(replicas: tuple[int, ...]) -> Row:
    return Row(replicas[0], replicas, set(replicas))


@pytest.fixture
def kafka_tools(tools: LineProcess, bootstrap: str, tmp_path: Path) -> Tools:
    return Tools(tools, bootstrap, tmp_path)


@pytest.fixture
def topic(kafka_tools: Tools) -> str:
    name = unused_topic_name()
    places = ",".join(":".join(map(str, replicas)) for replicas in PLACES.values())
    printed = kafka_tools.topics("--create", "--topic", name, "--replica-assignment", places)
    assert f"Created topic {name}." in printed
    kafka_tools.wait_for(name, *map(at_home, PLACES.values()))
    return name


def test_partitions_have_the_replicas_that_were_chosen(kafka_tools: Tools, topic: str) -> None:
    first, *_ = kafka_tools.topics("--describe", "--topic", topic).splitlines()
    assert "PartitionCount: 3\tReplicationFactor: 2" in first
    for kind in ("--under-replicated-partitions", "--unavailable-partitions"):
        assert kafka_tools.rows(topic, kind) == {}
    added = ("--partitions", "4", "--replica-assignment", "1:2,2:3,3:1,3:2")
    assert kafka_tools.topics("--alter", "--topic", topic, *added) == ""
    kafka_tools.wait_for(topic, *map(at_home, [*PLACES.values(), (3, 2)]))


def test_replicas_that_cannot_be_are_refused(kafka_tools: Tools, topic: str) -> None:
    new = ("--create", "--topic", unused_topic_name())
    refused = kafka_tools.topics(*new, "--replica-assignment", "1:9")
    assert "includes broker 9, but no such broker is registered" in refused
    refused = kafka_tools.topics(*new, "--partitions", "1", "--replication-factor", "4")
    assert "Unable to replicate the partition 4 time(s)" in refused
    moved = [{"topic": topic, "partition": 0, "replicas": [1, 9]}]
    assert "Unknown broker id 9" in kafka_tools.reassign("--execute", moved)


def test_a_reassignment_is_executed_verified_and_rolled_back(
    kafka_tools: Tools, topic: str
) -> None:
    moves: list[dict[str, object]] = [
        {"topic": topic, "partition": 0, "replicas": [2, 1]},
        {"topic": topic, "partition": 1, "replicas": [1, 3]},
    ]
    executed = kafka_tools.reassign("--execute", moves)
    started = f"Successfully started partition reassignments for {topic}-0,{topic}-1"
    assert started in executed
    [before] = (json.loads(line) for line in re.findall("{.*}", executed))
    assert {one["partition"]: tuple(one["replicas"]) for one in before["partitions"]} == {
        0: PLACES[0],
        1: PLACES[1],
    }

    def is_done(partitions: list[dict[str, object]]) -> bool:
        verified = kafka_tools.reassign("--verify", partitions)
        return all(
            f"Reassignment of partition {topic}-{one['partition']} is completed." in verified
            for one in partitions
        )

    wait_until(lambda: is_done(moves))
    assert "No partition reassignments found." in kafka_tools.run(
        "kafka-reassign-partitions", "--list"
    )
    none = "None of the specified partition reassignments are active."
    assert none in kafka_tools.reassign("--cancel", moves)
    # A leader that stays a replica stays the leader.
    moved = Row(1, (2, 1), {1, 2}), at_home((1, 3)), at_home(PLACES[2])
    kafka_tools.wait_for(topic, *moved)

    kafka_tools.reassign("--execute", before["partitions"])
    wait_until(lambda: is_done(before["partitions"]))
    assert {index: row.replicas for index, row in kafka_tools.rows(topic).items()} == PLACES


def test_a_preferred_leader_is_elected(kafka_tools: Tools, topic: str) -> None:
    moves: list[dict[str, object]] = [{"topic": topic, "partition": 0, "replicas": [2, 1]}]
    kafka_tools.reassign("--execute", moves)
    kafka_tools.wait_for(topic, Row(1, (2, 1), {1, 2}), at_home((2, 3)), at_home((3, 1)))
    elected = f"Successfully completed leader election (PREFERRED) for partitions {topic}-0"
    assert elected in kafka_tools.elect(topic, 0)
    kafka_tools.wait_for(topic, at_home((2, 1)), at_home((2, 3)), at_home((3, 1)))
    assert f"Valid replica already elected for partitions {topic}-0" in kafka_tools.elect(topic, 0)


def test_a_plan_is_generated_for_all_brokers(
    kafka_tools: Tools, topic: str, tmp_path: Path
) -> None:
    chosen = tmp_path / "topics.json"
    chosen.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    options = ("--topics-to-move-json-file", str(chosen), "--broker-list", "1,2,3")
    printed = kafka_tools.run("kafka-reassign-partitions", "--generate", *options)
    now, proposed = (json.loads(line)["partitions"] for line in re.findall("{.*}", printed))
    assert {one["partition"]: tuple(one["replicas"]) for one in now} == PLACES
    assert {one["replicas"][0] for one in proposed} == {1, 2, 3}


@pytest.mark.parametrize("bootstrap", ["ottla"], indirect=True)
def test_the_partitions_of_a_broker_that_is_away_are_under_replicated(
    kafka_tools: Tools, topic: str, cluster: Brokers
) -> None:
    assert cluster[2].terminate() == 0
    cluster.wait_for_nodes(1, 3)
    kafka_tools.wait_for(topic, Row(1, (1, 2), {1}), Row(3, (2, 3), {3}), at_home((3, 1)))
    assert kafka_tools.rows(topic, "--under-replicated-partitions").keys() == {0, 1}
    assert kafka_tools.rows(topic, "--unavailable-partitions") == {}
    assert "PreferredLeaderNotAvailableException" in kafka_tools.elect(topic, 1)
    cluster[2].start()
    cluster.wait_for_nodes()
    wait_until(lambda: "Successfully completed" in kafka_tools.elect(topic, 1))
    kafka_tools.wait_for(topic, *map(at_home, PLACES.values()))
