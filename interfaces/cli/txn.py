"""`ottla txn list|describe|abort`, with the tables of kafka-transactions."""

from __future__ import annotations

import argparse
import re
import time
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.kafka_tables import tabbed
from interfaces.cli.output import confirmed, show
from interfaces.cli.txn_partitions import abort_hanging
from interfaces.cli.txn_requests import abort as abort_transaction
from interfaces.cli.txn_requests import describe_each, list_all
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.describe_transactions import TransactionState

Row = dict[str, Any]


def list_transactions(parsed: argparse.Namespace) -> int:
    try:
        pattern = re.compile(parsed.pattern or "")
    except re.error as wrong:
        raise UsageError(f"invalid regular expression {parsed.pattern!r}: {wrong}") from None
    clients = Clients(parsed)
    longer_than = parsed.duration_filter
    rows = [
        {
            "transactional_id": one.transactional_id,
            "coordinator": broker,
            "producer_id": one.producer_id,
            "transaction_state": one.transaction_state,
        }
        for broker, one in list_all(
            clients,
            clients.admin(),
            longer_than_ms=None if longer_than is None else int(longer_than * 1000),
        )
        if pattern.search(one.transactional_id)
    ]
    heads = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
    show(rows, parsed.output, tabbed(heads, rows))
    return 0


def describe(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    rows = []
    failed = 0
    for outcome in describe_each(clients, dict.fromkeys(parsed.names)):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
        else:
            rows.append(_row(*outcome))
    if not rows and parsed.output == "table":
        return failed
    cells = [row | {"topic_partitions": ",".join(row["topic_partitions"])} for row in rows]
    heads = (
        *("CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState"),
        *("TransactionTimeoutMs", "CurrentTransactionStartTimeMs", "TransactionDurationMs"),
        "TopicPartitions",
    )
    show(rows, parsed.output, tabbed(heads, cells))
    return failed


def _row(broker: int, one: TransactionState) -> Row:
    started = one.transaction_start_time_ms if one.transaction_start_time_ms >= 0 else None
    return {
        "coordinator_id": broker,
        "transactional_id": one.transactional_id,
        "producer_id": one.producer_id,
        "producer_epoch": one.producer_epoch,
        "transaction_state": one.transaction_state,
        "transaction_timeout_ms": one.transaction_timeout_ms,
        "current_transaction_start_time_ms": started,
        "transaction_duration_ms": None if started is None else int(time.time() * 1000) - started,
        "topic_partitions": [
            f"{topic.topic}-{index}" for topic in one.topics for index in topic.partitions
        ],
    }


def abort(parsed: argparse.Namespace) -> int:
    place = (parsed.topic, parsed.partition, parsed.start_offset)
    if (parsed.name is None) == (place == (None, None, None)):
        raise UsageError("a TRANSACTIONAL_ID, or --topic, --partition and --start-offset")
    if parsed.name is None:
        if None in place:
            raise UsageError("--topic, --partition and --start-offset belong together")
        return abort_hanging(parsed)
    name = parsed.name
    clients = Clients(parsed)
    clients.check_reachable()
    # InitProducerId of an unknown transactional id would create it.
    [outcome] = describe_each(clients, [name])
    if isinstance(outcome, CommandFailed):
        raise outcome
    if not confirmed(f"Abort the transaction of {name} and fence its producer?", parsed.yes):
        raise CommandFailed("not confirmed: nothing aborted")
    abort_transaction(clients, name)
    print(f"{name}: producer fenced, no transaction open")
    return 0
