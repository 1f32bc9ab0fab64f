"""Records of __transaction_state are those of Kafka, from the values that its formatter prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import InvalidRecord
from domain.topics.internal_records import Record
from domain.transactions.state_record import (
    read_transaction,
    read_transactional_id,
    transaction_key,
    transaction_record,
)
from domain.transactions.states import State
from domain.transactions.transaction import TopicPartition, Transaction

FOLDER = Path(__file__).parent / "transaction_topic"
LINES = [json.loads(line) for line in (FOLDER / "captured.jsonl").read_text().splitlines()]
STATES = [
    State.EMPTY,
    State.ONGOING,
    State.PREPARE_COMMIT,
    State.PREPARE_ABORT,
    State.COMPLETE_COMMIT,
    State.COMPLETE_ABORT,
]


def transaction(transactional_id: str, value: dict[str, Any]) -> Transaction:
    return Transaction(
        transactional_id,
        value["producerId"],
        value["transactionTimeoutMs"],
        value["transactionLastUpdateTimestampMs"],
        value["producerEpoch"],
        state=STATES[value["transactionStatus"]],
        started_ms=value["transactionStartTimestampMs"],
        version=value.get("clientTransactionVersion", 0),
        next_producer_id=77,  # Kafka does not write it
    )


def places(value: dict[str, Any]) -> list[TopicPartition]:
    """In the order of Kafka, which is that of a hash table."""
    topics = value["transactionPartitions"] or []
    return [(one["topic"], partition) for one in topics for partition in one["partitionIds"]]


def encoded(printed: dict[str, Any]) -> Record:
    transactional_id = printed["key"]["data"]["transactionalId"]
    if printed["value"] is None:
        return transaction_key(transactional_id), None
    value = printed["value"]["data"]
    return transaction_record(
        transaction(transactional_id, value), places(value), printed["value"]["version"]
    )


@pytest.mark.parametrize("line", LINES, ids=[f"record {at}" for at in range(len(LINES))])
def test_a_record_has_the_bytes_of_kafka(line: dict[str, Any]) -> None:
    key, value = encoded(line["printed"])
    assert (key.hex(), None if value is None else value.hex()) == (line["key"], line["value"])


@pytest.mark.parametrize("line", LINES, ids=[f"record {at}" for at in range(len(LINES))])
def test_a_record_of_kafka_is_read(line: dict[str, Any]) -> None:
    printed = line["printed"]
    transactional_id = read_transactional_id(bytes.fromhex(line["key"]))
    assert transactional_id == printed["key"]["data"]["transactionalId"]
    if line["value"] is None:
        return
    data = printed["value"]["data"]
    assert read_transaction(transactional_id, bytes.fromhex(line["value"])) == transaction(
        transactional_id, data
    )._replace(next_producer_id=-1, partitions=frozenset(places(data)))


def test_a_record_that_is_cut_off_is_refused() -> None:
    for line in LINES:
        key, value = bytes.fromhex(line["key"]), bytes.fromhex(line["value"] or "")
        for length in range(len(key)):
            with pytest.raises(InvalidRecord):
                read_transactional_id(key[:length])
        for length in range(len(value)):
            with pytest.raises(InvalidRecord):
                read_transaction("tx", value[:length])


def test_producer_ids_of_tagged_fields_are_read() -> None:
    [value, *_] = [line["value"] for line in LINES if line["value"] and line["value"][-2:] == "00"]
    tagged = "03" + "0008" + f"{7:016x}" + "0108" + f"{8:016x}" + "0302" + "0000"
    found = read_transaction("tx", bytes.fromhex(value[:-2] + tagged))
    assert (found.previous_producer_id, found.next_producer_id) == (7, 8)


@pytest.mark.parametrize("raw", ["0002", "ffff"])
def test_another_version_is_refused(raw: str) -> None:
    with pytest.raises(InvalidRecord):
        read_transaction("tx", bytes.fromhex(raw) + bytes(60))


def test_every_kind_of_record_is_captured() -> None:
    values = [line["printed"]["value"] for line in LINES]
    kinds = {(one["version"], one["data"]["transactionStatus"]) for one in values if one}
    assert kinds >= {(1, status) for status in range(6)} | {(0, 0), (0, 1), (0, 2), (0, 4)}
    assert None in values
