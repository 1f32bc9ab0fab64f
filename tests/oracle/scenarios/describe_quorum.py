from __future__ import annotations

from interfaces.kafka.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestedPartition,
    RequestedTopic,
)
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

METADATA = "__cluster_metadata"


def of(name: str, *partitions: int) -> RequestedTopic:
    return RequestedTopic(
        topic_name=name,
        partitions=[RequestedPartition(partition_index=index) for index in partitions],
    )


def request(*topics: RequestedTopic) -> DescribeQuorumRequest:
    return DescribeQuorumRequest(topics=list(topics))


@scenario("describe_quorum")
def the_metadata_log(run: ScenarioRun) -> None:
    run.send("its partition", request(of(METADATA, 0)))


@scenario("describe_quorum")
def other_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("a topic", request(of(topic.name, 0, 1)))
    run.send("an unknown topic", request(of(UNKNOWN_TOPIC.name, 0)))
    run.send("an empty name", request(of("", 0)))
    run.send("another partition", request(of(METADATA, 1)))
    run.send("a negative partition", request(of(METADATA, -1)))
    run.send("two partitions", request(of(METADATA, 0, 1)))
    run.send("the partition twice", request(of(METADATA, 0, 0)))
    run.send("no partition", request(of(METADATA)))
    run.send("another topic beside it", request(of(METADATA, 0), of(topic.name, 0)))
    run.send("the topic twice", request(of(METADATA, 0), of(METADATA, 0)))
    run.send("none", request())


@scenario("describe_quorum")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_quorum", b"")
