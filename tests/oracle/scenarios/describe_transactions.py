from __future__ import annotations

from interfaces.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from interfaces.kafka.wire.messages.describe_transactions import DescribeTransactionsRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer


def request(*names: str) -> DescribeTransactionsRequest:
    return DescribeTransactionsRequest(transactional_ids=list(names))


@scenario("describe_transactions")
def states(run: ScenarioRun) -> None:
    topic, producer = run.topic("a", partitions=3), Producer(run, timeout_ms=54_321)
    run.send("empty", request(producer.name))
    producer.add(topic, 2, 0)
    joined = AddOffsetsToTxnRequest(
        transactional_id=producer.name,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        group_id="oracle-group",
    )
    assert run.call(joined, AddOffsetsToTxnResponse, 3).error_code == 0
    run.send("ongoing", request(producer.name))
    producer.end()
    run.send("committed", request(producer.name))
    producer.add(topic, 1)
    producer.end(committed=False, version=5)
    run.send("aborted, with the next epoch", request(producer.name))
    producer.add(topic, 1)
    producer.init()
    run.send("aborted for another producer", request(producer.name))


@scenario("describe_transactions")
def names(run: ScenarioRun) -> None:
    producer = Producer(run)
    run.send("none", request())
    run.send("unknown", request("unknown"))
    run.send("empty", request(""))
    run.send("several", request("unknown", producer.name))
    run.send("one twice", request(producer.name, producer.name))


@scenario("describe_transactions")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_transactions", b"")
