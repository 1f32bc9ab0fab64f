"""Kafka responds before the markers are written, so each step waits for them."""

from __future__ import annotations

from interfaces.kafka.wire.messages.end_txn import EndTxnRequest
from tests.oracle.requests import list_offsets
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer

FIRST_WITH_EPOCH = 5
COMMIT, ABORT = True, False
LATEST, LIST_OFFSETS = -1, 7


def send(run: ScenarioRun, step: str, producer: Producer, request: EndTxnRequest) -> None:
    response = run.send(step, request)
    if run.version >= FIRST_WITH_EPOCH and response.error_code == 0:
        producer.id, producer.epoch = response.producer_id, response.producer_epoch
    producer.settle()


@scenario("end_txn")
def of_nothing(run: ScenarioRun) -> None:
    producer = Producer(run)
    send(run, "commit", producer, producer.ending(COMMIT))
    send(run, "abort", producer, producer.ending(ABORT))
    send(run, "abort again", producer, producer.ending(ABORT))


@scenario("end_txn")
def commits(run: ScenarioRun) -> None:
    producer, topic = Producer(run), run.topic("a")
    producer.add(topic)
    first = producer.ending(COMMIT)
    send(run, "of an open transaction", producer, first)
    send(run, "its retry", producer, first)
    send(run, "an abort instead", producer, producer.ending(ABORT, epoch=first.producer_epoch))
    send(run, "a commit with the next epoch", producer, producer.ending(COMMIT))
    send(run, "an abort with the next epoch", producer, producer.ending(ABORT))
    producer.add(topic)
    send(run, "the first request again", producer, first)
    send(run, "of the next transaction", producer, producer.ending(COMMIT))


@scenario("end_txn")
def aborts(run: ScenarioRun) -> None:
    producer, topic = Producer(run), run.topic("a")
    producer.add(topic)
    first = producer.ending(ABORT)
    send(run, "of an open transaction", producer, first)
    send(run, "its retry", producer, first)
    send(run, "a commit instead", producer, producer.ending(COMMIT, epoch=first.producer_epoch))
    send(run, "a commit with the next epoch", producer, producer.ending(COMMIT))
    producer.add(topic)
    send(run, "the first request again", producer, first)
    send(run, "of the next transaction", producer, producer.ending(ABORT))


@scenario("end_txn")
def partitions_without_records(run: ScenarioRun) -> None:
    producer, topic = Producer(run), run.topic("a", 2)
    for committed in (COMMIT, ABORT):
        producer.add(topic, 0, 1)
        send(run, f"end, {committed}", producer, producer.ending(committed))
        ends = list_offsets((topic, 0, LATEST), (topic, 1, LATEST))
        run.send(f"end offsets, {committed}", ends, version=LIST_OFFSETS)


@scenario("end_txn")
def other_producers(run: ScenarioRun) -> None:
    producer, topic = Producer(run), run.topic("a")
    for state in ("empty", "ongoing", "complete"):
        if state == "ongoing":
            producer.add(topic)
        if state == "complete":
            producer.end()
        for step, request in (
            ("a later epoch", producer.ending(epoch=producer.epoch + 1)),
            ("a negative epoch", producer.ending(epoch=-1)),
            ("an earlier epoch", producer.ending(epoch=producer.epoch - 2)),
            ("another id", producer.ending(producer_id=4_000_000)),
        ):
            run.send(f"{state}: {step}", request)
    for step, name in (("an unknown", "unknown"), ("an empty", "")):
        unknown = EndTxnRequest(
            transactional_id=name, producer_id=1, producer_epoch=0, committed=True
        )
        run.send(f"{step} transactional id", unknown)


@scenario("end_txn", first=FIRST_WITH_EPOCH)
def zombies(run: ScenarioRun) -> None:
    """Of a producer whose epoch is one behind that of its successor."""
    topic = run.topic("a")
    for version in (3, FIRST_WITH_EPOCH):
        for committed in (COMMIT, ABORT):
            producer = Producer(run, f"tx{version}{committed:d}")
            zombie = producer.epoch
            producer.init()
            producer.add(topic)
            producer.end(committed, version)
            done = f"{'a commit' if committed else 'an abort'} in version {version}"
            for step, ending in (("a commit", COMMIT), ("an abort", ABORT)):
                run.send(f"{step} after {done}", producer.ending(ending, epoch=zombie))


@scenario("end_txn")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "end_txn", b"")
