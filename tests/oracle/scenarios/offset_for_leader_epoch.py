from __future__ import annotations

from interfaces.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.fakes.batches import record_batch
from tests.oracle.requests import NOBODY, store
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

CONSUMER, DEBUGGING = -1, -2


def asked(
    topic: str, *partitions: tuple[int, int, int], replica_id: int = CONSUMER
) -> OffsetForLeaderEpochRequest:
    """Of each: partition, the epoch the client believes in, the one it asks for."""
    wanted = [
        OffsetForLeaderPartition(partition=index, current_leader_epoch=current, leader_epoch=epoch)
        for index, current, epoch in partitions
    ]
    return OffsetForLeaderEpochRequest(
        replica_id=replica_id, topics=[OffsetForLeaderTopic(topic=topic, partitions=wanted)]
    )


@scenario("offset_for_leader_epoch")
def epochs(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    store(tell, topic, record_batch(["a", "b"]), record_batch(["c"]))
    for current in (-1, 0):
        for wanted in (0, 1, 5, -1, -2):
            step = f"epoch {wanted}, believing in {current}"
            tell.ask(step, asked(topic.name, (0, current, wanted)))
    for current in (1, 7, -2):
        tell.ask(f"believing in {current}", asked(topic.name, (0, current, 0)))
    tell.ask("a partition that is empty", asked(topic.name, (1, 0, 0)))
    tell.ask("several, one twice", asked(topic.name, (1, 0, 0), (0, 0, 0), (1, 9, 0), (0, 0, 0)))
    tell.ask("for debugging", asked(topic.name, (0, 0, 0), replica_id=DEBUGGING))


@scenario("offset_for_leader_epoch")
def places_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("a partition", asked(topic.name, (7, -1, 0), (-1, -1, 0), (0, -1, 0)))
    tell.ask("a topic", asked(NOBODY.name, (0, -1, 0), (1, 9, 0)))
    tell.ask("an illegal topic", asked("a b", (0, -1, 0)))
    tell.ask("a topic without a name", asked("", (0, -1, 0)))
    tell.ask("no partitions", asked(topic.name))
    tell.ask("no topics", OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=[]))


@scenario("offset_for_leader_epoch")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "offset_for_leader_epoch", b"")
