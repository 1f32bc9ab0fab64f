from __future__ import annotations

from interfaces.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from tests.fakes.batches import GZIP, record_batch
from tests.oracle.requests import UNKNOWN_TOPIC, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(
        topics=[DescribableLogDirTopic(topic=name, partitions=them) for name, them in topics]
    )


@scenario("describe_log_dirs")
def sizes(run: ScenarioRun) -> None:
    topic, other = run.topic("a", 3), run.topic("b")
    run.send("an empty topic", request((topic.name, [0, 1, 2])))
    store(run, topic, record_batch(["a", "b", "c"]), record_batch(["d"] * 100, codec=GZIP))
    store(run, other, record_batch(["e"]))
    run.send("one", request((topic.name, [0])))
    run.send("an empty partition", request((topic.name, [1])))
    run.send("some", request((topic.name, [2, 0])))
    run.send("two topics", request((topic.name, [0, 1]), (other.name, [0])))
    run.send("all", DescribeLogDirsRequest(topics=None))


@scenario("describe_log_dirs")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("a partition", request((topic.name, [7, -1])))
    run.send("one known and one unknown partition", request((topic.name, [7, 1])))
    run.send("a topic", request((UNKNOWN_TOPIC.name, [0, 1])))
    run.send("an illegal topic", request(("a b", [0])))
    run.send("a topic without a name", request(("", [0])))
    run.send("no partitions", request((topic.name, [])))
    run.send("no topics", request())


@scenario("describe_log_dirs")
def twice(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("a partition", request((topic.name, [1, 1, 0])))
    run.send("a topic", request((topic.name, [1]), (topic.name, [0, 1])))


@scenario("describe_log_dirs")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_log_dirs", b"")
    run.send_raw("half a body", "describe_log_dirs", b"\0\0\0\1\0")
