"""Transactional producers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from application.broker import TransactionServices
from application.groups.transactional_offsets import TransactionalOffsets
from application.partitions.init_producer_id import InitProducerIdService
from application.partitions.markers import TransactionMarkers
from application.state.coordinators import Coordinators
from application.state.features import Features
from application.transactions.coordinator import TransactionCoordinator
from application.transactions.end_markers import EndMarkers
from application.transactions.end_wait import EndWait
from application.transactions.ends import Ends, TransactionEnds
from application.transactions.expiry import TransactionExpiry
from application.transactions.late import LateTransactions
from application.transactions.listing import ListTransactionsService
from application.transactions.moves import TransactionMoves
from application.transactions.registry import TransactionRegistry
from application.transactions.state_topic import TransactionsInTopic
from application.transactions.take_over import TakeOverService
from application.transactions.verification import TransactionVerification
from domain.topics.topic import TRANSACTION_TOPIC
from infrastructure.patterns import compile_pattern
from interfaces.main.container.core import Core
from interfaces.main.container.identities import new_marker_id

if TYPE_CHECKING:
    from application.transactions.requested_markers import RequestedMarkers


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
    end_markers = EndMarkers(markers, core.storage_health)
    verification = TransactionVerification(core.transactions.read, core.placement)
    markers.when_written = verification.forget
    ends, requested_markers = _make_ends(core, registry, end_markers, offsets, verification)
    moves = TransactionMoves(registry, ends)
    coordinators.on_moved(moves.lost, moves.gained)
    events = core.events
    coordinator = TransactionCoordinator(
        registry, ends, producer_ids, features, clock, config, events
    )
    end_wait = EndWait(registry, background, clock)
    return TransactionServices(
        registry=registry,
        coordinators=coordinators,
        coordinator=coordinator,
        end_wait=end_wait,
        take_over=TakeOverService(coordinator, end_wait, background),
        ends=ends,
        verification=verification,
        requested_markers=requested_markers,
        list_transactions=ListTransactionsService(registry, compile_pattern, clock),
        expiry=TransactionExpiry(registry, coordinator, clock, background, config, events),
        late=LateTransactions(registry, core.catalog, clock, background, config, events),
    )


def _make_ends(
    core: Core,
    registry: TransactionRegistry,
    end_markers: EndMarkers,
    offsets: TransactionalOffsets,
    verification: TransactionVerification,
) -> tuple[Ends, RequestedMarkers | None]:
    catalog, clock, background, requests = core.catalog, core.clock, core.background, core.markers
    if core.membership is None:
        alone = TransactionEnds(
            registry, catalog, requests, end_markers, offsets, clock, background
        )
        return alone, None
    from application.transactions.cluster_ends import ClusterEnds
    from application.transactions.requested_markers import RequestedMarkers

    return (
        ClusterEnds(
            registry, requests, catalog, end_markers, offsets, clock, background, new_marker_id
        ),
        RequestedMarkers(
            requests, catalog, core.placement, end_markers, offsets, verification, background
        ),
    )
