"""Transactional producers."""

from __future__ import annotations

from application.broker import TransactionServices
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.init_producer_id import InitProducerIdService
from application.partitions.markers import TransactionMarkers
from application.state.coordinators import Coordinators
from application.state.features import Features
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.ends import TransactionEnds
from application.transactions.expiry import TransactionExpiry
from application.transactions.late import LateTransactions
from application.transactions.listing import ListTransactionsService
from application.transactions.moves import TransactionMoves
from application.transactions.registry import TransactionRegistry
from application.transactions.state_topic import TransactionsInTopic
from domain.topics.topic import TRANSACTION_TOPIC
from infrastructure.patterns import compile_pattern
from interfaces.main.container.core import Core


def make_transactions(
    core: Core,
    markers: TransactionMarkers,
    offsets: TransactionalOffsets,
    producer_ids: InitProducerIdService,
    features: Features,
    transaction_topic: TransactionsInTopic | None,
) -> TransactionServices:
    clock, config, background = core.clock, core.config, core.background
    coordinators = Coordinators(
        TRANSACTION_TOPIC, core.catalog, core.placement, core.min_insync_replicas
    )
    repository = transaction_topic or core.transactions
    registry = TransactionRegistry(repository, core.commits, coordinators)
    ends = TransactionEnds(
        registry, core.catalog, markers, offsets, clock, background, core.storage_health
    )
    moves = TransactionMoves(registry, ends)
    coordinators.on_moved(moves.lost, moves.gained)
    events = core.events
    coordinator = TransactionCoordinator(
        registry, ends, producer_ids, features, clock, config, events
    )
    return TransactionServices(
        registry=registry,
        coordinators=coordinators,
        coordinator=coordinator,
        ends=ends,
        list_transactions=ListTransactionsService(registry, compile_pattern, clock),
        expiry=TransactionExpiry(registry, coordinator, clock, background, config, events),
        late=LateTransactions(registry, core.catalog, clock, background, config, events),
    )
