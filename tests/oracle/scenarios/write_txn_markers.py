from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.fakes.batches import record_batch
from tests.oracle.requests import UNKNOWN_TOPIC, fetch, produce
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

PRODUCER, OTHER = 900_001, 900_002
#: Of versions before 5 responses to refused batches are the same.
FETCH, PRODUCE = 11, 4


def marker(
    *places: tuple[str, list[int]], producer: int = PRODUCER, epoch: int = 0, **fields: Any
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=producer,
        producer_epoch=epoch,
        topics=[
            WritableTxnMarkerTopic(name=name, partition_indexes=indexes) for name, indexes in places
        ],
        **fields,
    )


def request(*markers: WritableTxnMarker) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(markers=list(markers))


def batch(sequence: int = 0, epoch: int = 0, producer: int = PRODUCER) -> bytearray:
    return record_batch(["a"], producer_id=producer, epoch=epoch, sequence=sequence)


@scenario("write_txn_markers")
def producers_without_a_transaction(run: ScenarioRun) -> None:
    """The marker is written, and its epoch becomes the producer's."""
    topic = run.topic("a")
    run.send("an unknown producer", request(marker((topic.name, [0]), epoch=3)))
    run.send("older", produce(topic, batch(epoch=2)), version=PRODUCE)
    run.send("a later sequence", produce(topic, batch(5, epoch=3)), version=PRODUCE)
    run.send("the first sequence", produce(topic, batch(0, epoch=3)), version=PRODUCE)
    run.send("the same epoch", request(marker((topic.name, [0]), epoch=3)))
    run.send("the next sequence", produce(topic, batch(1, epoch=3)), version=PRODUCE)
    run.send("a new epoch", request(marker((topic.name, [0]), epoch=4, transaction_result=True)))
    run.send("a gap", produce(topic, batch(2, epoch=4)), version=PRODUCE)
    run.send("a new start", produce(topic, batch(0, epoch=4)), version=PRODUCE)
    run.send("an older epoch", request(marker((topic.name, [0]), epoch=2)))
    run.send("markers of READ_COMMITTED", fetch((topic, 0, 0), isolation_level=1), version=FETCH)
    run.send("markers", fetch((topic, 0, 0)), version=FETCH)


@scenario("write_txn_markers")
def coordinator_epochs(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for epoch in (5, 5, 4, -1, 6):
        step = f"{len(run.exchanges)}: {epoch}"
        run.send(step, request(marker((topic.name, [0]), coordinator_epoch=epoch)))


@scenario("write_txn_markers", first=2)
def transaction_version_2(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for version, epoch in ((2, 3), (2, 3), (2, 2), (2, 4), (1, 4), (3, 4), (-1, 4)):
        step = f"{len(run.exchanges)}: version {version}, epoch {epoch}"
        sent = marker((topic.name, [0]), epoch=epoch, transaction_version=version)
        run.send(step, request(sent))


@scenario("write_txn_markers")
def several(run: ScenarioRun) -> None:
    first, second = run.topic("a", 2), run.topic("b")
    both = marker((first.name, [1, 0]), (second.name, [0]))
    run.send("partitions", request(both))
    run.send("producers", request(both, marker((second.name, [0]), producer=OTHER)))
    run.send("a producer twice", request(both, marker((second.name, [0]), epoch=1)))
    run.send("a topic twice", request(marker((first.name, [0]), (first.name, [1]), epoch=2)))
    run.send("no partitions", request(marker((first.name, []))))
    run.send("no topics", request(marker()))
    run.send("no markers", request())


@scenario("write_txn_markers")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("a partition", request(marker((topic.name, [7, -1]))))
    run.send("one known and one unknown", request(marker((topic.name, [7, 0]))))
    run.send("a topic", request(marker((UNKNOWN_TOPIC.name, [0]))))
    run.send("an illegal topic", request(marker(("a b", [0]))))
    run.send("a topic without a name", request(marker(("", [0]))))
    unknown = marker((UNKNOWN_TOPIC.name, [0]), producer=OTHER)
    run.send("one of two markers", request(unknown, marker((topic.name, [0]))))


@scenario("write_txn_markers")
def illegal_producers(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for producer, epoch in ((-1, 0), (-2, 0), (PRODUCER, -1), (1 << 62, 32767)):
        sent = marker((topic.name, [0]), producer=producer, epoch=epoch)
        run.send(f"producer {producer}, epoch {epoch}", request(sent))


@scenario("write_txn_markers")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "write_txn_markers", b"")
    run.send_raw("half a body", "write_txn_markers", b"\2\0\0\0")
