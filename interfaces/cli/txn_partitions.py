"""`ottla txn describe-producers|find-hanging`, and `abort` of a hanging transaction.

A transaction hangs if it is open in a partition, but its coordinator does not know it there: no
coordinator ends it, and READ_COMMITTED consumers wait at its first offset.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.kafka_tables import tabbed
from interfaces.cli.output import confirmed, show
from interfaces.cli.positions import chosen
from interfaces.cli.txn_requests import (
    Place,
    describe_each,
    list_all,
    producers_of,
    write_abort_marker,
)

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.describe_producers import ProducerState

Row = dict[str, Any]


def producers(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    places = chosen(clients, admin, parsed.topic, (parsed.partition,))
    [found] = producers_of(clients, admin, places).values()
    rows = [
        {
            "producer_id": one.producer_id,
            "producer_epoch": one.producer_epoch,
            "latest_coordinator_epoch": one.coordinator_epoch,
            "last_sequence": one.last_sequence,
            "last_timestamp": one.last_timestamp,
            "current_transaction_start_offset": one.current_txn_start_offset
            if one.current_txn_start_offset >= 0
            else None,
        }
        for one in found
    ]
    heads = (
        *("ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence"),
        *("LastTimestamp", "CurrentTransactionStartOffset"),
    )
    show(rows, parsed.output, tabbed(heads, rows))
    return 0


def find_hanging(parsed: argparse.Namespace) -> int:
    if parsed.partitions is not None and len(parsed.topics) != 1:
        raise UsageError("--partitions is for one topic")
    clients = Clients(parsed)
    admin = clients.admin()
    names = parsed.topics or sorted(clients.metadata(admin).topics)
    places = [place for name in names for place in chosen(clients, admin, name, parsed.partitions)]
    now_ms = int(time.time() * 1000)
    latest_ms = now_ms - int(parsed.max_transaction_timeout * 1000)
    open_ones = [
        (place, one)
        for place, found in producers_of(clients, admin, places).items()
        for one in found
        if one.current_txn_start_offset >= 0 and one.last_timestamp < latest_ms
    ]
    known = _known(clients, admin, {one.producer_id for _, one in open_ones})
    rows = hanging(open_ones, known, now_ms)
    heads = (
        *("Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch"),
        *("StartOffset", "LastTimestamp", "Duration(min)"),
    )
    show(rows, parsed.output, tabbed(heads, rows))
    return 0


def hanging(
    open_ones: Iterable[tuple[Place, ProducerState]], known: Mapping[int, set[Place]], now_ms: int
) -> list[Row]:
    """`known`: by producer id, the partitions of the transaction that a coordinator will end."""
    return [
        {
            "topic": place[0],
            "partition": place[1],
            "producer_id": one.producer_id,
            "producer_epoch": one.producer_epoch,
            "coordinator_epoch": one.coordinator_epoch,
            "start_offset": one.current_txn_start_offset,
            "last_timestamp": one.last_timestamp,
            "duration_minutes": (now_ms - one.last_timestamp) // 60_000,
        }
        for place, one in open_ones
        if place not in known.get(one.producer_id, ())
    ]


def _known(clients: Clients, admin: Any, producer_ids: set[int]) -> dict[int, set[Place]]:
    if not producer_ids:
        return {}
    listed = list_all(clients, admin, producer_ids)
    found: dict[int, set[Place]] = {}
    for outcome in describe_each(clients, (one.transactional_id for _, one in listed)):
        if isinstance(outcome, CommandFailed):
            raise outcome
        _, described = outcome
        found[described.producer_id] = {
            (topic.topic, index) for topic in described.topics for index in topic.partitions
        }
    return found


def abort_hanging(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    [place] = chosen(clients, admin, parsed.topic, (parsed.partition,))
    producer = _with_start_offset(producers_of(clients, admin, [place])[place], parsed.start_offset)
    name = f"{place[0]}-{place[1]}"
    if producer is None:
        raise CommandFailed(f"{name} has no open transaction from offset {parsed.start_offset} on")
    if not confirmed(f"Abort the transaction of producer {producer.producer_id}?", parsed.yes):
        raise CommandFailed("not confirmed: nothing aborted")
    write_abort_marker(clients, admin, place, producer)
    print(f"{name}: transaction of producer {producer.producer_id} aborted")
    return 0


def _with_start_offset(found: list[ProducerState], offset: int) -> ProducerState | None:
    return next((one for one in found if one.current_txn_start_offset == offset), None)
