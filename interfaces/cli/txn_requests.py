"""Requests about transactions, which confluent-kafka does not have."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients, check_code
from interfaces.cli.failures import CommandFailed
from interfaces.terminal.addresses import Address

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.describe_producers import ProducerState
    from interfaces.kafka.wire.messages.describe_transactions import TransactionState
    from interfaces.kafka.wire.messages.list_transactions import TransactionState as Listed

_TRANSACTION = 1
_CONCURRENT_TRANSACTIONS = 51
_TRANSACTIONAL_ID_NOT_FOUND = 105
#: Of a transaction that is aborted, whose producer has none.
_TIMEOUT_MS = 60_000
_PAUSE_S = 0.1
#: As kafka-transactions.
_PARTITIONS_AT_ONCE = 500
#: Topic and partition.
Place = tuple[str, int]


def list_all(
    clients: Clients,
    admin: Any,
    producer_ids: Collection[int] = (),
    longer_than_ms: int | None = None,
) -> list[tuple[int, Listed]]:
    """Of all brokers; each with the id of its coordinator."""
    from interfaces.kafka.wire.messages.list_transactions import (
        ListTransactionsRequest,
        ListTransactionsResponse,
    )

    request = ListTransactionsRequest(producer_id_filters=list(producer_ids))
    version = 0
    if longer_than_ms is not None:
        request.duration_filter, version = longer_than_ms, 1
    found = []
    for broker, address in _brokers(clients, admin).items():
        what = f"the transactions of {address}"
        with clients.wire(what, address) as client:
            response = client.send(request, version, ListTransactionsResponse)
        check_code(what, response.error_code)
        found += [(broker, one) for one in response.transaction_states]
    return sorted(found, key=lambda one: one[1].transactional_id)


def describe_each(
    clients: Clients, names: Iterable[str]
) -> list[tuple[int, TransactionState] | CommandFailed]:
    """Each with the id of its coordinator."""
    return [_described(clients, name) for name in names]


def _described(clients: Clients, name: str) -> tuple[int, TransactionState] | CommandFailed:
    from interfaces.kafka.wire.messages.describe_transactions import (
        DescribeTransactionsRequest,
        DescribeTransactionsResponse,
    )

    what = _named(name)
    try:
        broker, address = _coordinator(clients, name)
        with clients.wire(what, address) as client:
            request = DescribeTransactionsRequest(transactional_ids=[name])
            response = client.send(request, 0, DescribeTransactionsResponse)
        [found] = response.transaction_states
        if found.error_code == _TRANSACTIONAL_ID_NOT_FOUND:
            raise CommandFailed(f"{what} does not exist")
        check_code(what, found.error_code)
    except CommandFailed as failure:
        return failure
    return broker, found


def abort(clients: Clients, name: str) -> None:
    """A new producer aborts the transaction of the one before it, and fences it."""
    from interfaces.kafka.wire.messages.init_producer_id import (
        InitProducerIdRequest,
        InitProducerIdResponse,
    )

    _, address = _coordinator(clients, name)
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=_TIMEOUT_MS)
    deadline = time.monotonic() + clients.timeout_s
    with clients.wire(_named(name), address) as client:
        code = client.send(request, 1, InitProducerIdResponse).error_code
        # Kafka's response while a transaction ends.
        while code == _CONCURRENT_TRANSACTIONS and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            code = client.send(request, 1, InitProducerIdResponse).error_code
    check_code(_named(name), code)


def producers_of(
    clients: Clients, admin: Any, places: Iterable[Place]
) -> dict[Place, list[ProducerState]]:
    from interfaces.kafka.wire.messages.describe_producers import (
        DescribeProducersRequest,
        DescribeProducersResponse,
        TopicRequest,
    )

    found: dict[Place, list[ProducerState]] = {}
    for address, some in _by_leader(clients, admin, places).items():
        with clients.wire(f"the producers of {address}", address) as client:
            for start in range(0, len(some), _PARTITIONS_AT_ONCE):
                topics: dict[str, TopicRequest] = {}
                for name, index in some[start : start + _PARTITIONS_AT_ONCE]:
                    topics.setdefault(name, TopicRequest(name=name)).partition_indexes.append(index)
                request = DescribeProducersRequest(topics=list(topics.values()))
                for topic in client.send(request, 0, DescribeProducersResponse).topics:
                    for one in topic.partitions:
                        check_code(f"{topic.name}-{one.partition_index}", one.error_code)
                        found[topic.name, one.partition_index] = one.active_producers
    return found


def write_abort_marker(clients: Clients, admin: Any, place: Place, producer: ProducerState) -> None:
    from interfaces.kafka.wire.messages.write_txn_markers import (
        WritableTxnMarker,
        WritableTxnMarkerTopic,
        WriteTxnMarkersRequest,
        WriteTxnMarkersResponse,
    )

    name, index = place
    what = f"{name}-{index}"
    [address] = _by_leader(clients, admin, [place])
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=name, partition_indexes=[index])],
        coordinator_epoch=max(0, producer.coordinator_epoch),
    )
    with clients.wire(what, address) as client:
        response = client.send(WriteTxnMarkersRequest(markers=[marker]), 1, WriteTxnMarkersResponse)
    [result] = [one for m in response.markers for topic in m.topics for one in topic.partitions]
    check_code(what, result.error_code)


def _brokers(clients: Clients, admin: Any) -> dict[int, Address]:
    # The stubs type every field of a broker as None.
    brokers: Iterable[Any] = clients.metadata(admin).brokers.values()
    return {one.id: Address(one.host, one.port) for one in brokers}


def _by_leader(clients: Clients, admin: Any, places: Iterable[Place]) -> dict[Address, list[Place]]:
    topics, brokers = clients.metadata(admin).topics, _brokers(clients, admin)
    found: dict[Address, list[Place]] = {}
    for name, index in places:
        leader = topics[name].partitions[index].leader
        if leader not in brokers:
            raise CommandFailed(f"{name}-{index} has no leader")
        found.setdefault(brokers[leader], []).append((name, index))
    return found


def _coordinator(clients: Clients, name: str) -> tuple[int, Address]:
    from interfaces.kafka.wire.messages.find_coordinator import (
        FindCoordinatorRequest,
        FindCoordinatorResponse,
    )

    what = f"the coordinator of {_named(name)}"
    with clients.wire(what) as client:
        request = FindCoordinatorRequest(key=name, key_type=_TRANSACTION)
        found = client.send(request, 1, FindCoordinatorResponse)
    check_code(what, found.error_code)
    return found.node_id, Address(found.host, found.port)


def _named(name: str) -> str:
    return f"transactional id {name}"
