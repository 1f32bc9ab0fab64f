from __future__ import annotations

from interfaces.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.fakes.batches import record_batch
from tests.oracle.requests import UNKNOWN_TOPIC, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

CONSUMER, DEBUGGING = -1, -2


def request(
    topic: str, *partitions: tuple[int, int, int], replica_id: int = CONSUMER
) -> OffsetForLeaderEpochRequest:
    """Of each: partition, current epoch of the client, requested epoch."""
    rows = [
        OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
        for index, current, epoch in partitions
    ]
    return OffsetForLeaderEpochRequest(
        replica_id=replica_id, topics=[OffsetForLeaderTopic(topic=topic, partitions=rows)]
    )


@scenario("offset_for_leader_epoch")
def epochs(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    store(run, topic, record_batch(["a", "b"]), record_batch(["c"]))
    for current in (-1, 0):
        for epoch in (0, 1, 5, -1, -2):
            step = f"epoch {epoch}, current epoch {current}"
            run.send(step, request(topic.name, (0, current, epoch)))
    for current in (1, 7, -2):
        run.send(f"current epoch {current}", request(topic.name, (0, current, 0)))
    run.send("an empty partition", request(topic.name, (1, 0, 0)))
    run.send("several, one twice", request(topic.name, (1, 0, 0), (0, 0, 0), (1, 9, 0), (0, 0, 0)))
    run.send("for debugging", request(topic.name, (0, 0, 0), replica_id=DEBUGGING))


@scenario("offset_for_leader_epoch")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("a partition", request(topic.name, (7, -1, 0), (-1, -1, 0), (0, -1, 0)))
    run.send("a topic", request(UNKNOWN_TOPIC.name, (0, -1, 0), (1, 9, 0)))
    run.send("an illegal topic", request("a b", (0, -1, 0)))
    run.send("a topic without a name", request("", (0, -1, 0)))
    run.send("no partitions", request(topic.name))
    run.send("no topics", OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=[]))


@scenario("offset_for_leader_epoch")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "offset_for_leader_epoch", b"")
