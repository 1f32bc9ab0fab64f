"""TransactionEnds: ends transactions of a broker that is alone.

prepared, markers, offsets of groups, completed: one commit, if all partitions are in memory
prepared: a commit; the rest: another one, by a job, which a start repeats
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from application.background.job import COMMIT, Job
from application.background.runner import Runner
from application.groups.transactional_offsets import TransactionalOffsets
from application.ports.clock import Clock
from application.ports.log_store import NotInMemory
from application.ports.marker_repository import MarkerRepository
from application.ports.pending import Pending
from application.state.catalog import Catalog
from application.transactions.end_markers import EndMarkers
from application.transactions.registry import TransactionRegistry
from domain.errors import BrokerError, StorageFailed
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from domain.transactions.decisions import complete
from domain.transactions.transaction import Transaction


class Ends(Protocol):
    """`TransactionEnds` or `ClusterEnds`."""

    def start(self) -> None: ...

    def resume(self, transactional_ids: Callable[[str], bool]) -> None:
        """Ends the transactions that were prepared before."""
        ...

    def end(self, prepared: Transaction) -> Transaction:
        """Stages the end, or a part of it; returns the transaction as it is then."""
        ...


class TransactionEnds:
    def __init__(
        self,
        registry: TransactionRegistry,
        catalog: Catalog,
        requests: MarkerRepository,
        end_markers: EndMarkers,
        offsets: TransactionalOffsets,
        clock: Clock,
        background: Runner,
    ) -> None:
        self._registry = registry
        self._catalog = catalog
        self._requests = requests
        self._end_markers = end_markers
        self._offsets = offsets
        self._clock = clock
        self._background = background

    def start(self) -> None:
        self.resume(lambda _: True)

    def resume(self, transactional_ids: Callable[[str], bool]) -> None:
        for transaction in self._registry:
            if transaction.is_prepared and transactional_ids(transaction.transactional_id):
                self._end_later(transaction.transactional_id)

    def end(self, prepared: Transaction) -> Transaction:
        """Stages the end, or the preparation for a job; returns the transaction as it is then."""
        loading = None
        try:
            return self._end(prepared)
        except NotInMemory as later:
            loading = later.loading
        except BrokerError:
            pass  # the job tries again
        self._registry.put(prepared)
        self._end_later(prepared.transactional_id, loading)
        return prepared

    def _end_later(self, transactional_id: str, loading: Pending[None] | None = None) -> None:
        # Without a callback, a fault of the job would not be logged.
        self._background.run_later(self._end_job(transactional_id, loading)).then(lambda _: None)

    def _end_job(self, transactional_id: str, loading: Pending[None] | None) -> Job[None]:
        if loading is not None:
            yield loading
        while True:
            prepared = self._registry.find(transactional_id)
            if prepared is None or not prepared.is_prepared:
                return
            try:
                self._end(prepared)
            except NotInMemory as later:
                yield later.loading
            except BrokerError as failure:
                yield StorageFailed(failure.message)
            else:
                failed = yield COMMIT
                if failed is None:
                    return
                yield failed

    def _end(self, prepared: Transaction) -> Transaction:
        """Raises, without any effect, if a partition or group cannot be used now."""
        now_ms = self._clock.now_ms()
        partitions = self._partitions(prepared)
        epoch_of = self._end_markers.coordinator_epoch
        epochs = [epoch_of(one, prepared.producer_id) for one in partitions]
        self._offsets.complete(prepared.producer_id, prepared.groups, prepared.is_committed)
        for partition, coordinator_epoch in zip(partitions, epochs, strict=True):
            marker = EndMarker(*prepared.producer, coordinator_epoch, prepared.is_committed)
            self._end_markers.write(partition, marker)
        if prepared.markers_requested:
            self._withdraw(prepared.transactional_id)
        completed = complete(prepared, now_ms)
        self._registry.put(completed)
        return completed

    def _partitions(self, prepared: Transaction) -> list[Partition]:
        """Without those of deleted topics."""
        topics = ((self._catalog.topic(name), index) for name, index in sorted(prepared.partitions))
        found = self._catalog.partitions((one, index) for one, index in topics if one is not None)
        for one in found:
            if isinstance(one, BrokerError):
                raise one
            if one is not None:
                self._end_markers.check(one)
        return [one for one in found if isinstance(one, Partition)]

    def _withdraw(self, transactional_id: str) -> None:
        """What one of several brokers has requested, before the store was copied."""
        for one in self._requests.all():
            if one.transactional_id == transactional_id:
                self._requests.remove(one)
