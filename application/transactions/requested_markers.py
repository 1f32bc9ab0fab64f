"""RequestedMarkers: ends transactions in partitions led here, as coordinators elsewhere request.

The marker, or the outcome of the offsets, is in the commit that removes the request. A leader that
is fenced commits nothing, and its successor reads the requests that are left before it leads.
"""

from __future__ import annotations

from itertools import islice

from application.background.job import COMMIT, SLICE, Job
from application.background.runner import Runner
from application.groups.transactional_offsets import TransactionalOffsets
from application.ports.log_store import NotInMemory
from application.ports.marker_repository import MarkerRepository, RequestedMarker
from application.ports.pending import Pending, all_of
from application.ports.placement import Placement
from application.state.catalog import Catalog
from application.transactions.end_markers import EndMarkers
from application.transactions.verification import TransactionVerification
from domain.errors import BrokerError, UnknownTopicOrPartition

#: After a commit that failed, and for partitions that cannot be used now.
TRY_AGAIN_MS = 1000
MARKERS_PER_COMMIT = 1000


class RequestedMarkers:
    def __init__(
        self,
        requests: MarkerRepository,
        catalog: Catalog,
        placement: Placement,
        end_markers: EndMarkers,
        offsets: TransactionalOffsets,
        verification: TransactionVerification,
        background: Runner,
    ) -> None:
        self._requests = requests
        self._catalog = catalog
        self._placement = placement
        self._end_markers = end_markers
        self._offsets = offsets
        self._verification = verification
        self._background = background

    def start(self) -> None:
        self._requests.follow(self._write_soon)
        self._placement.on_moved(lambda _: self._write_soon())
        self._background.every(TRY_AGAIN_MS, self._try_again)
        self._write_soon()

    def _try_again(self) -> Job[None]:
        yield SLICE
        self._write_soon()

    def _write_soon(self) -> None:
        self._background.start(self._write, pauses=False)

    def _write(self) -> Job[None]:
        """Until none is left that can be written."""
        while requested := self._requested_here():
            loading: list[Pending[None]] = []
            # Behind those that cannot be written now there may be others.
            staged = (one for one in requested if self._staged(one, loading))
            if list(islice(staged, MARKERS_PER_COMMIT)):
                if (yield COMMIT) is not None:
                    return
            elif loading:
                yield all_of(loading)
            else:
                return

    def _requested_here(self) -> list[RequestedMarker]:
        leader, node_id = self._placement.leader, self._placement.node_id
        return [one for one in self._requests.all() if leader(one.partition_id).node_id == node_id]

    def _staged(self, one: RequestedMarker, loading: list[Pending[None]]) -> bool:
        try:
            self._end(one)
        except NotInMemory as later:
            loading.append(later.loading)
            return False
        except BrokerError:
            return False  # later
        self._requests.remove(one)
        self._verification.forget(one.producer.producer_id)
        return True

    def _end(self, one: RequestedMarker) -> None:
        """Raises, without any effect, if it cannot be done now."""
        topic = self._catalog.topic(one.topic)
        if topic is None or one.partition_id not in topic.partition_ids:
            raise UnknownTopicOrPartition()  # the coordinator withdraws it
        if one.groups:
            self._offsets.complete(one.producer.producer_id, one.groups, one.committed)
            return
        partition = self._catalog.partition(topic, one.partition, waits=False)
        assert partition is not None
        self._end_markers.end(partition, one.producer, one.committed)
