from __future__ import annotations

from interfaces.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from tests.oracle.requests import OFFSETS
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic
from tests.oracle.transactions import Producer

SEVERAL = 4


def request(
    run: ScenarioRun,
    producer: Producer,
    *places: tuple[str, int],
    name: str | None = None,
    producer_id: int | None = None,
    epoch: int | None = None,
    verify_only: bool = False,
) -> AddPartitionsToTxnRequest:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, index in places:
        topics.setdefault(topic, AddPartitionsToTxnTopic(name=topic)).partitions.append(index)
    name = producer.name if name is None else name
    producer_id = producer.id if producer_id is None else producer_id
    epoch = producer.epoch if epoch is None else epoch
    if run.version < SEVERAL:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=list(topics.values()),
        )
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=epoch,
        verify_only=verify_only,
        topics=list(topics.values()),
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


def begin(run: ScenarioRun) -> tuple[Topic, Producer]:
    return run.topic("a", partitions=3), Producer(run)


@scenario("add_partitions_to_txn")
def partitions(run: ScenarioRun) -> None:
    topic, producer = begin(run)
    run.send("the first", request(run, producer, (topic.name, 0)))
    run.send("again", request(run, producer, (topic.name, 0)))
    run.send("more", request(run, producer, (topic.name, 2), (topic.name, 0), (topic.name, 1)))
    run.send("none", request(run, producer))
    producer.end()
    run.send("of the next transaction", request(run, producer, (topic.name, 0)))


@scenario("add_partitions_to_txn")
def unknown_partitions(run: ScenarioRun) -> None:
    topic, producer = begin(run)
    run.send("a topic", request(run, producer, ("nobody-has-this-topic", 0)))
    run.send("an index", request(run, producer, (topic.name, 3), (topic.name, 0)))
    run.send("a negative index", request(run, producer, (topic.name, -1)))
    run.send("an internal topic", request(run, producer, (OFFSETS, 0), (topic.name, 0)))
    run.send("an empty name", request(run, producer, ("", 0)))
    unknown = request(run, producer, ("nobody-has-this-topic", 0), epoch=9)
    run.send("a topic, and another epoch", unknown)


@scenario("add_partitions_to_txn")
def other_producers(run: ScenarioRun) -> None:
    topic, producer = begin(run)
    place = (topic.name, 0)
    for step, state in (("empty", None), ("ongoing", 0)):
        if state is not None:
            producer.add(topic)
        run.send(f"{step}: a later epoch", request(run, producer, place, epoch=producer.epoch + 1))
        run.send(f"{step}: a negative epoch", request(run, producer, place, epoch=-1))
        run.send(f"{step}: another id", request(run, producer, place, producer_id=4_000_000))
    run.send("an unknown transactional id", request(run, producer, place, name="unknown"))
    run.send("an empty transactional id", request(run, producer, place, name=""))
    producer.init()
    run.send("an earlier epoch", request(run, producer, place, epoch=producer.epoch - 1))


@scenario("add_partitions_to_txn", first=SEVERAL)
def verification(run: ScenarioRun) -> None:
    topic, producer = begin(run)
    place, other = (topic.name, 0), (topic.name, 1)
    run.send("before", request(run, producer, place, verify_only=True))
    producer.add(topic)
    run.send("added", request(run, producer, place, verify_only=True))
    run.send("one of two", request(run, producer, place, other, verify_only=True))
    run.send("another epoch", request(run, producer, place, epoch=9, verify_only=True))
    run.send("another id", request(run, producer, place, producer_id=4_000_000, verify_only=True))
    run.send("an unknown id", request(run, producer, place, name="unknown", verify_only=True))
    run.send("an empty id", request(run, producer, place, name="", verify_only=True))
    run.send("nothing", request(run, producer, verify_only=True))


@scenario("add_partitions_to_txn", first=SEVERAL)
def several_transactions(run: ScenarioRun) -> None:
    topic, first = begin(run)
    second = Producer(run, "other")
    both = request(run, first, (topic.name, 0))
    both.transactions += request(run, second, (topic.name, 0), epoch=7).transactions
    run.send("two", both)


@scenario("add_partitions_to_txn")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "add_partitions_to_txn", b"")
