from __future__ import annotations

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.oracle.requests import OFFSETS, UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def more(name: str, count: int, *assigned: list[int]) -> CreatePartitionsTopic:
    rows = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned]
    return CreatePartitionsTopic(name=name, count=count, assignments=rows or None)


def request(*topics: CreatePartitionsTopic, validate_only: bool = False) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=list(topics), timeout_ms=20_000, validate_only=validate_only
    )


@scenario("create_partitions")
def more_partitions(run: ScenarioRun) -> None:
    one, two = run.topic("a"), run.topic("b", 2)
    run.send("validate only", request(more(one.name, 2), validate_only=True))
    run.send("one more", request(more(one.name, 2)))
    run.wait_for_partitions(one.name, 2)
    run.send("two topics", request(more(one.name, 3), more(two.name, 5)))
    run.wait_for_partitions(two.name, 5)
    run.send("assigned", request(more(one.name, 5, [1], [1])))
    run.send("none", request())


@scenario("create_partitions")
def refusals(run: ScenarioRun) -> None:
    topic, other = run.topic("a", 3), run.topic("b")
    name = topic.name
    cases: tuple[tuple[str, CreatePartitionsTopic], ...] = (
        ("unchanged", more(name, 3)),
        ("fewer", more(name, 2)),
        ("zero", more(name, 0)),
        ("negative", more(name, -1)),
        ("an unknown topic", more(UNKNOWN_TOPIC.name, 2)),
        ("an illegal name", more("a b", 2)),
        ("an empty name", more("", 2)),
        ("an unknown broker", more(name, 4, [9])),
        ("two replicas", more(name, 4, [1, 2])),
        ("a broker twice", more(name, 4, [1, 1])),
        ("no replicas", more(name, 4, [])),
        ("too many assigned", more(name, 4, [1], [1])),
        ("too few assigned", more(name, 6, [1])),
        ("an unknown broker in the second", more(name, 5, [1], [9])),
        ("more than 10,000", more(name, 10_004)),
    )
    for step, row in cases:
        run.send(step, request(row, validate_only=True))
    no_rows = CreatePartitionsTopic(name=name, count=4, assignments=[])
    run.send("an empty list of assignments", request(no_rows, validate_only=True))
    run.send("twice", request(more(name, 4), more(name, 5), validate_only=True))
    run.send("twice and another", request(more(name, 4), more(other.name, 2), more(name, 5)))


@scenario("create_partitions")
def internal_topics(run: ScenarioRun) -> None:
    run.send("more", request(more(OFFSETS, 2), validate_only=True))


@scenario("create_partitions")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "create_partitions", b"")
    flexible = run.version >= 2
    many = b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4
    run.send_raw("many topics", "create_partitions", many)
