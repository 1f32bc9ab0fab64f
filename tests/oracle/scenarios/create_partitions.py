from __future__ import annotations

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def more(name: str, count: int, *assigned: list[int]) -> CreatePartitionsTopic:
    rows = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned]
    return CreatePartitionsTopic(name=name, count=count, assignments=rows or None)


def asked(*topics: CreatePartitionsTopic, validate_only: bool = False) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=list(topics), timeout_ms=20_000, validate_only=validate_only
    )


@scenario("create_partitions")
def growing(tell: Teller) -> None:
    one, two = tell.topic("a"), tell.topic("b", 2)
    tell.ask("only looked at", asked(more(one.name, 2), validate_only=True))
    tell.ask("one more", asked(more(one.name, 2)))
    tell.settle(one.name, 2)
    tell.ask("two topics", asked(more(one.name, 3), more(two.name, 5)))
    tell.settle(two.name, 5)
    tell.ask("assigned", asked(more(one.name, 5, [1], [1])))
    tell.ask("none", asked())


@scenario("create_partitions")
def refusals(tell: Teller) -> None:
    topic, other = tell.topic("a", 3), tell.topic("b")
    name = topic.name
    cases: tuple[tuple[str, CreatePartitionsTopic], ...] = (
        ("as many", more(name, 3)),
        ("fewer", more(name, 2)),
        ("zero", more(name, 0)),
        ("negative", more(name, -1)),
        ("an unknown topic", more(NOBODY.name, 2)),
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
    for step, wanted in cases:
        tell.ask(step, asked(wanted, validate_only=True))
    no_rows = CreatePartitionsTopic(name=name, count=4, assignments=[])
    tell.ask("an empty list of them", asked(no_rows, validate_only=True))
    tell.ask("twice", asked(more(name, 4), more(name, 5), validate_only=True))
    tell.ask("twice and another", asked(more(name, 4), more(other.name, 2), more(name, 5)))


@scenario("create_partitions")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "create_partitions", b"")
    flexible = tell.version >= 2
    many = b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4
    tell.ask_raw("many topics", "create_partitions", many)
