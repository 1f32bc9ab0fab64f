from __future__ import annotations

from interfaces.kafka.wire.messages.describe_transactions import DescribeTransactionsRequest
from interfaces.kafka.wire.messages.write_txn_markers import WriteTxnMarkersResponse
from tests.fakes.batches import record_batch
from tests.oracle.requests import produce
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.scenarios.produce import new_producer
from tests.oracle.scenarios.write_txn_markers import marker
from tests.oracle.scenarios.write_txn_markers import request as write_markers
from tests.oracle.transactions import Producer


@scenario("produce")
def transactions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    plain = record_batch(["x"])
    run.send("an id, and a plain batch", produce(topic, plain, transactional_id="oracle"))
    flagged = record_batch(
        ["x"], transactional=True, producer_id=new_producer(run), epoch=0, sequence=0
    )
    run.send("no id, and a batch of a transaction", produce(topic, flagged))


@scenario("produce")
def batches_of_transactions(run: ScenarioRun) -> None:
    topic, producer = run.topic("a", partitions=2), Producer(run)

    def send(
        step: str,
        sequence: int,
        partition: int = 0,
        epoch: int | None = None,
        producer_id: int | None = None,
        name: str | None = None,
        transactional: bool = True,
    ) -> None:
        batch = record_batch(
            ["x"],
            transactional=transactional,
            producer_id=producer.id if producer_id is None else producer_id,
            epoch=producer.epoch if epoch is None else epoch,
            sequence=sequence,
        )
        name = producer.name if name is None else name
        run.send(step, produce(topic, batch, partition=partition, transactional_id=name))

    send("not added", 0)
    producer.add(topic, 0)
    send("added", 0)
    send("the next one", 1)
    send("a duplicate", 1)
    send("a gap", 3)
    send("another partition", 0, partition=1)
    send("not of the transaction", 2, transactional=False)
    send("another epoch", 0, epoch=producer.epoch + 1)
    send("another producer id", 0, producer_id=4_000_000)
    send("another epoch, another partition", 0, 1, epoch=producer.epoch + 1)
    send("an unknown transactional id", 0, 1, producer_id=4_000_000, name="unknown")
    send("an empty transactional id", 0, 1, producer_id=4_000_000, name="")
    producer.end()
    send("after the end", 2)
    before = producer.epoch
    producer.init()
    send("of a fenced producer", 2, epoch=before)
    send("of a new producer, not added", 0)


@scenario("produce")
def batches_behind_refused_ones(run: ScenarioRun) -> None:
    """Of a transactional producer that the partition does not know."""
    topic, producer = run.topic("a", partitions=2), Producer(run)

    def send(step: str, sequence: int, partition: int = 0, later: int = 0) -> None:
        batch = record_batch(
            ["x"],
            transactional=True,
            producer_id=producer.id,
            epoch=producer.epoch + later,
            sequence=sequence,
        )
        request = produce(topic, batch, partition=partition, transactional_id=producer.name)
        run.send(step, request)

    send("not added", 0)
    producer.add(topic, 0)
    send("behind it", 1)
    send("from the start", 0)
    send("the next one", 1)
    send("a later sequence first", 2, partition=1)
    states = DescribeTransactionsRequest(transactional_ids=[producer.name])
    run.send("partitions of the transaction", states, version=0)
    send("a later epoch", 1, later=1)
    send("the third one", 2)


@scenario("produce")
def a_partition_with_a_later_epoch(run: ScenarioRun) -> None:
    topic, producer = run.topic("a"), Producer(run)
    written = marker((topic.name, [0]), producer=producer.id, epoch=producer.epoch + 1)
    run.call(write_markers(written), WriteTxnMarkersResponse, 1)
    batch = record_batch(
        ["x"], transactional=True, producer_id=producer.id, epoch=producer.epoch, sequence=0
    )
    run.send("not added", produce(topic, batch, transactional_id=producer.name))
    states = DescribeTransactionsRequest(transactional_ids=[producer.name])
    run.send("the transaction", states, version=0)
    producer.add(topic)
    run.send("added", produce(topic, batch, transactional_id=producer.name))
    other = record_batch(["x"], transactional=True, producer_id=producer.id, epoch=0, sequence=0)
    run.send("another transactional id", produce(topic, other, transactional_id="unknown"))
