from __future__ import annotations

from interfaces.kafka.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from interfaces.kafka.wire.messages.write_txn_markers import WriteTxnMarkersResponse
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.oracle.requests import OFFSETS, UNKNOWN_TOPIC, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.scenarios.write_txn_markers import marker
from tests.oracle.scenarios.write_txn_markers import request as write_markers


def request(*topics: tuple[str, list[int]]) -> DescribeProducersRequest:
    return DescribeProducersRequest(
        topics=[TopicRequest(name=name, partition_indexes=indexes) for name, indexes in topics]
    )


@scenario("describe_producers")
def producers(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    store(run, topic, record_batch(["plain"]))
    run.send("none", request((topic.name, [0, 1])))
    store(run, topic, record_batch(["a", "b"], producer_id=800_003, epoch=2, sequence=0))
    store(run, topic, record_batch(["c"], producer_id=800_003, epoch=2, sequence=2))
    store(run, topic, record_batch(["d"], producer_id=800_001, epoch=0, sequence=77))
    run.send("two", request((topic.name, [0, 1])))
    store(run, topic, record_batch(["e"], producer_id=800_001, epoch=0, sequence=78, timestamp=5))
    run.send("a later batch with an earlier time", request((topic.name, [0])))
    store(run, topic, record_batch(["f"], producer_id=800_003, epoch=3, sequence=0))
    run.send("a new epoch", request((topic.name, [0])))


@scenario("describe_producers")
def after_markers(run: ScenarioRun) -> None:
    """The time of a marker differs: the steps after a batch have that of the batch."""
    topic = run.topic("a")
    written = marker((topic.name, [0]), producer=800_001, epoch=4, coordinator_epoch=7)
    run.call(write_markers(written), WriteTxnMarkersResponse, 1)
    batch = record_batch(["a"], producer_id=800_001, epoch=4, sequence=0, timestamp=TIMESTAMP)
    store(run, topic, batch)
    run.send("a batch after a marker", request((topic.name, [0])))


@scenario("describe_producers")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("a partition", request((topic.name, [7, 0, -1])))
    run.send("a partition twice", request((topic.name, [0, 0])))
    run.send("a topic twice", request((topic.name, [0]), (topic.name, [0])))
    run.send("a topic", request((UNKNOWN_TOPIC.name, [0, 1])))
    run.send("an illegal topic", request(("a b", [0])))
    run.send("a topic without a name", request(("", [0])))
    run.send("no partitions", request((topic.name, []), (UNKNOWN_TOPIC.name, [])))
    run.send("no topics", request())
    run.send("an unknown partition of an internal topic", request((OFFSETS, [77])))


@scenario("describe_producers")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_producers", b"")
    run.send_raw("half a body", "describe_producers", b"\2\0")
