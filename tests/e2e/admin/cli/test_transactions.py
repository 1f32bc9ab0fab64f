"""`ottla txn`, with the transactions of librdkafka."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import KafkaException, Producer

from tests.e2e.admin.cli.conftest import Ottla


@pytest.fixture
def producer(ottla: Ottla, name: str) -> Producer:
    """Its transactional id is the name of its topic, in which it has an open transaction."""
    ottla.run("topic", "create", name)
    producer = Producer(
        {"bootstrap.servers": ottla.bootstrap, "transactional.id": name, "log_level": 0}
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"1", partition=0)
    producer.flush()
    return producer


def test_transactions_are_listed_and_described(ottla: Ottla, name: str, producer: Producer) -> None:
    listed = ottla.run("txn", "list", f"^{name}$")
    assert listed.lines[0].split() == [
        *("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
    ]
    [row] = listed.rows
    assert (row[0], row[1], row[3]) == (name, "1", "Ongoing")
    assert not ottla.run("txn", "list", name, "--duration-filter", "1h").rows
    [described] = json.loads(ottla.run("txn", "describe", name, "-o", "json").out)
    assert described["transaction_state"] == "Ongoing"
    assert described["producer_id"] == int(row[2])
    assert described["topic_partitions"] == [f"{name}-0"]
    assert described["transaction_duration_ms"] >= 0
    producer.commit_transaction(30)
    [described] = json.loads(ottla.run("txn", "describe", name, "-o", "json").out)
    assert described["transaction_state"] == "CompleteCommit"
    assert described["topic_partitions"] == []
    refused = ottla.run("txn", "describe", name, "unknown-id", code=1)
    assert refused.errors == "ottla: transactional id unknown-id does not exist\n"
    assert len(refused.rows) == 1


def test_a_transaction_is_aborted_and_its_producer_fenced(
    ottla: Ottla, name: str, producer: Producer
) -> None:
    [line] = ottla.run("txn", "abort", name, "--yes").lines
    assert line == f"{name}: producer fenced, no transaction open"
    with pytest.raises(KafkaException) as fenced:
        producer.commit_transaction(30)
    assert fenced.value.args[0].fatal()
    committed = ("-X", "isolation.level=read_committed")
    assert ottla.run("consume", name, "-e", *committed).lines == []
    assert ottla.run("consume", name, "-e", "-X", "isolation.level=read_uncommitted").lines == ["1"]
    assert "does not exist" in ottla.run("txn", "abort", "unknown-id", code=1).errors
    ottla.run("txn", "describe", "unknown-id", code=1)


def test_the_transaction_of_a_partition_is_aborted(
    ottla: Ottla, name: str, producer: Producer
) -> None:
    shown = json.loads(ottla.run("txn", "describe-producers", name, "0", "-o", "json").out)
    assert [one["current_transaction_start_offset"] for one in shown] == [0]
    hanging = ottla.run("txn", "find-hanging", name, "--max-transaction-timeout", "1ms")
    assert not hanging.rows, "its coordinator will end it"
    place = ("-t", name, "-p", "0", "--start-offset")
    refused = ottla.run("txn", "abort", *place, "7", code=1)
    assert refused.errors == f"ottla: {name}-0 has no open transaction from offset 7 on\n"
    assert len(ottla.run("txn", "abort", *place, "0").lines) == 1
    shown = json.loads(ottla.run("txn", "describe-producers", name, "0", "-o", "json").out)
    assert [one["current_transaction_start_offset"] for one in shown] == [None]


@pytest.mark.parametrize(
    "arguments",
    [
        ("abort",),
        ("abort", "id", "-t", "topic"),
        ("abort", "-t", "topic"),
        ("find-hanging", "-p", "0"),
        ("list", "("),
    ],
)
def test_bad_arguments_are_usage_errors(ottla: Ottla, arguments: tuple[str, ...]) -> None:
    assert len(ottla.run("txn", *arguments, code=2).errors.splitlines()) == 1
