"""ClusterEnds: ends transactions in the partitions and groups of several brokers.

    all are led here   prepared, markers, offsets of groups, completed: one commit
    else               prepared, markers and offsets here, and a request to the leader of each other
                       partition: one commit. Completed, when no request is left: another one

A request is a row of the store. The leader of its partition removes it, in the commit that has the
marker (`application/transactions/requested_markers.py`). So the next coordinator has nothing to
send again: it waits for those that are left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.groups.transactional_offsets import TransactionalOffsets
from application.ports.clock import Clock
from application.ports.log_store import NotInMemory
from application.ports.marker_repository import MarkerRepository, RequestedMarker
from application.state.catalog import Catalog
from application.transactions.end_markers import EndMarkers
from application.transactions.registry import TransactionRegistry
from domain.errors import BrokerError
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC, Topic
from domain.transactions.decisions import complete
from domain.transactions.transaction import Transaction

#: After a commit that failed, and for partitions that were deleted.
LOOK_AGAIN_MS = 1000
#: By then the leader of a deleted partition knows it too, or its last marker is seen here.
WITHDRAW_AFTER_MS = 500
#: Longer than a commit takes, or fails.
WITHDRAW_AGAIN_MS = 60_000


class ClusterEnds:
    def __init__(
        self,
        registry: TransactionRegistry,
        requests: MarkerRepository,
        catalog: Catalog,
        end_markers: EndMarkers,
        offsets: TransactionalOffsets,
        clock: Clock,
        background: Runner,
        new_marker_id: Callable[[], bytes],
    ) -> None:
        self._registry = registry
        self._requests = requests
        self._catalog = catalog
        self._end_markers = end_markers
        self._offsets = offsets
        self._clock = clock
        self._background = background
        self._new_marker_id = new_marker_id
        #: Transactional ids that are not completed, as far as is known.
        self._open: set[str] = set()
        #: Ids of markers of deleted partitions, and when each is to be withdrawn, or was.
        self._withdrawals: dict[bytes, int] = {}

    def start(self) -> None:
        self._requests.follow(self._look_soon)
        self._background.every(LOOK_AGAIN_MS, self._look)
        self.resume(lambda _: True)

    def resume(self, transactional_ids: Callable[[str], bool]) -> None:
        """Ends the transactions that this broker, or another one, has prepared before."""
        for transaction in self._registry:
            if transaction.is_prepared and transactional_ids(transaction.transactional_id):
                self._open.add(transaction.transactional_id)
        self._look_soon()

    def end(self, prepared: Transaction) -> Transaction:
        """Stages the end; returns the transaction as it is then."""
        self._open.add(prepared.transactional_id)
        requested = [*self._end_in_partitions(prepared), *self._end_in_groups(prepared)]
        for one in requested:
            self._requests.add(one)
        if requested:
            ended = prepared._replace(markers_requested=True)
        else:
            ended = complete(prepared, self._clock.now_ms())
        self._registry.put(ended)
        return ended

    def _end_in_partitions(self, prepared: Transaction) -> list[RequestedMarker]:
        """Without those of deleted topics; returns what is left to their leaders."""
        left = []
        for name, index in sorted(prepared.partitions):
            topic = self._catalog.topic(name)
            if topic is None or not 0 <= index < len(topic.partition_ids):
                continue
            try:
                partition = self._catalog.partition(topic, index, waits=False)
                assert partition is not None
                self._end_markers.end(partition, prepared.producer, prepared.is_committed)
            except (NotInMemory, BrokerError):
                left.append(self._request(prepared, topic, index))
        return left

    def _end_in_groups(self, prepared: Transaction) -> list[RequestedMarker]:
        topic = self._catalog.topic(OFFSETS_TOPIC)
        if topic is None:  # deleted, with all offsets
            return []
        by_partition: dict[int, list[str]] = defaultdict(list)
        for group_id in sorted(prepared.groups):
            by_partition[partition_of(group_id, len(topic.partition_ids))].append(group_id)
        left = []
        for index, group_ids in by_partition.items():
            try:
                self._offsets.complete(prepared.producer_id, group_ids, prepared.is_committed)
            except BrokerError:
                left.append(self._request(prepared, topic, index, *group_ids))
        return left

    def _request(
        self, prepared: Transaction, topic: Topic, index: int, *groups: str
    ) -> RequestedMarker:
        return RequestedMarker(
            self._new_marker_id(),
            topic.partition_ids[index],
            topic.name,
            index,
            prepared.transactional_id,
            prepared.producer,
            prepared.is_committed,
            groups,
        )

    # ---- completing

    def _look_soon(self) -> None:
        if self._open:
            self._background.start(self._look, pauses=False)

    def _look(self) -> Job[None]:
        """At all that are not completed."""
        yield SLICE
        requested: dict[str, list[RequestedMarker]] = defaultdict(list)
        for one in self._requests.all() if self._open else ():
            requested[one.transactional_id].append(one)
        for transactional_id in sorted(self._open):
            transaction = self._registry.find(transactional_id)
            if transaction is not None and transactional_id in self._registry.runtime:
                continue  # until it is durable, or lost
            if transaction is None or not transaction.is_prepared:
                self._open.discard(transactional_id)
            elif not transaction.markers_requested:
                self.end(transaction)
            elif transactional_id not in requested:
                self._registry.put(complete(transaction, self._clock.now_ms()))
            else:
                self._withdraw(transaction, requested[transactional_id])

    def _withdraw(self, prepared: Transaction, requested: list[RequestedMarker]) -> None:
        """Of partitions that were deleted, which have no leader.

        If the topic was created again, perhaps before this broker knew it, its leader may have
        admitted batches of the transaction, whose partitions are names: it gets the marker.
        """
        now_ms = self._clock.monotonic_ms()
        self._withdrawals = {
            marker_id: at_ms
            for marker_id, at_ms in self._withdrawals.items()
            if now_ms - at_ms < WITHDRAW_AGAIN_MS
        }
        for one in requested:
            topic = self._catalog.topic(one.topic)
            if topic is not None and one.partition_id in topic.partition_ids:
                continue
            at_ms = self._withdrawals.setdefault(one.marker_id, now_ms + WITHDRAW_AFTER_MS)
            if now_ms >= at_ms:
                # A commit that removes one that is gone fails, with all that is in it.
                self._withdrawals[one.marker_id] = now_ms + WITHDRAW_AGAIN_MS
                self._requests.remove(one)
                if topic is not None and one.partition < len(topic.partition_ids):
                    self._requests.add(self._request(prepared, topic, one.partition, *one.groups))
