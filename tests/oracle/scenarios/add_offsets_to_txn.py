from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.transactions import Producer


def request(producer: Producer, group_id: str = "oracle-group", **facts: Any) -> Any:
    facts = {
        "transactional_id": producer.name,
        "producer_id": producer.id,
        "producer_epoch": producer.epoch,
        "group_id": group_id,
        **facts,
    }
    return AddOffsetsToTxnRequest(**facts)


@scenario("add_offsets_to_txn")
def groups(run: ScenarioRun) -> None:
    producer = Producer(run)
    run.send("the first", request(producer))
    run.send("again", request(producer))
    run.send("another", request(producer, "other"))
    run.send("an empty name", request(producer, ""))
    producer.end()
    run.send("of the next transaction", request(producer))


@scenario("add_offsets_to_txn")
def other_producers(run: ScenarioRun) -> None:
    producer = Producer(run)
    run.send("a later epoch", request(producer, producer_epoch=producer.epoch + 1))
    run.send("a negative epoch", request(producer, producer_epoch=-1))
    run.send("another id", request(producer, producer_id=4_000_000))
    run.send("an unknown transactional id", request(producer, transactional_id="unknown"))
    run.send("an empty transactional id", request(producer, transactional_id=""))


@scenario("add_offsets_to_txn")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "add_offsets_to_txn", b"")
