from __future__ import annotations

from interfaces.kafka.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.oracle.requests import SHARES, UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(
    *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsRequest:
    return DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )


@scenario("describe_topic_partitions")
def topics(run: ScenarioRun) -> None:
    one, two = run.topic("a"), run.topic("b", 3)
    run.send("one", request(one.name))
    run.send("unsorted", request(two.name, one.name))
    run.send("twice", request(one.name, one.name))
    run.send("unknown", request(UNKNOWN_TOPIC.name))
    run.send("known and unknown", request(UNKNOWN_TOPIC.name, two.name, one.name))
    run.send("an illegal name", request("a b"))
    run.send("an empty name", request(""))


@scenario("describe_topic_partitions")
def an_internal_topic(run: ScenarioRun) -> None:
    run.send("not created yet", request(SHARES))


@scenario("describe_topic_partitions")
def pages(run: ScenarioRun) -> None:
    one, two = run.topic("a", 2), run.topic("b", 3)
    both = one.name, two.name
    for limit in (1, 2, 3, 5, 0, -1, 100_000):
        run.send(f"at most {limit}", request(*both, limit=limit))
    run.send("an unknown topic at the end of the page", request(*both, "zz-nobody", limit=5))
    for place in ((one.name, 0), (one.name, 1), (two.name, 0), (two.name, 2)):
        short = "a" if place[0] == one.name else "b"
        run.send(f"from {short} {place[1]}", request(*both, cursor=place))
    run.send("from an unknown partition", request(*both, cursor=(one.name, 9)))
    run.send("from a negative partition", request(*both, cursor=(one.name, -1)))
    run.send("from a topic that is not requested", request(two.name, cursor=(one.name, 0)))
    run.send("from a later topic that is not requested", request(one.name, cursor=(two.name, 0)))
    run.send("from an unknown topic", request(*both, cursor=(UNKNOWN_TOPIC.name, 0)))
    run.send("a page within a topic", request(*both, limit=1, cursor=(two.name, 1)))


@scenario("describe_topic_partitions")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_topic_partitions", b"")
    run.send_raw("a cursor that is cut off", "describe_topic_partitions", b"\x01\0\0\0\x05\x01")
