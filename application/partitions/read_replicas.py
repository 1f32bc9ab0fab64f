"""Read replicas (KIP-392): consumers fetch old records from a broker in their own rack.

Replicas have no copies, but every broker can read records that are in objects. The leader names a
replica in the rack of the client, if enough sealed records lie ahead; the follower serves these.

A follower that does not have the records responds with NOT_LEADER_OR_FOLLOWER: Java goes back to
the leader at once, librdkafka after `fetch.error.backoff.ms`. With OFFSET_OUT_OF_RANGE librdkafka
would reset its position, and with OFFSET_NOT_AVAILABLE Java would wait for new metadata.

Only the leader knows the ends of leader epochs: it serves fetches with a last fetched epoch.
"""

from __future__ import annotations

from application.partitions.fetch_query import (
    FetchedPartition,
    FetchItem,
    FetchQuery,
    FollowedRead,
    FollowedReads,
)
from application.ports.clock import Clock
from application.ports.log_store import NotInMemory
from application.ports.placement import Placement
from application.ports.sealed_log import SealedLog, SealedRecords
from application.state.catalog import Catalog
from domain.cluster.nodes import NO_LEADER
from domain.errors import BrokerError, NotLeaderOrFollower
from domain.partitions.leader_epochs import NO_EPOCH
from domain.partitions.partition import Partition

#: Of sealed records ahead, on the average: librdkafka pauses for a second if it goes and returns.
WORTH_BYTES = 4 << 20
#: A client that comes back with the offset with which it was sent away is served for so long.
RETURNED_MS = 60_000
#: The leader serves what takes a follower longer: clients wait for 30 s for a response.
PATIENCE_MS = 10_000
_MOST_CLIENTS = 10_000
_RETURNED = -1
#: Ids of a partition and of a connection.
_Client = tuple[int, int]


class ReadReplicas:
    def __init__(
        self, placement: Placement, log: SealedLog, clock: Clock, catalog: Catalog
    ) -> None:
        self._placement = placement
        self._log = log
        self._clock = clock
        self._catalog = catalog
        #: By client: with which offset it was sent away, and when.
        self._sent_away: dict[_Client, tuple[int, int]] = {}

    # ---- the leader

    def sent_away(
        self, partition: Partition, item: FetchItem, query: FetchQuery
    ) -> FetchedPartition | None:
        """A response without records, which names the replica; None: the leader serves."""
        durable, offset = partition.durable, item.offset
        if item.last_fetched_epoch > NO_EPOCH:
            return None
        if not durable.start_offset <= offset < durable.next_offset:
            return None
        replica = self._replica_in(query.rack, partition.partition_id)
        if replica is None or item.leader_epoch not in (NO_EPOCH, partition.leader.epoch):
            return None
        record_bytes = durable.size_bytes / (durable.next_offset - durable.start_offset)
        end_offset = offset + 1 + int(WORTH_BYTES / max(record_bytes, 1))
        if not self._log.is_sealed(partition.partition_id, offset, end_offset):
            return None
        if not self._is_sent_away(partition.partition_id, offset, query):
            return None
        return FetchedPartition(
            item,
            None,
            partition.high_watermark,
            partition.last_stable_offset,
            durable.start_offset,
            preferred_read_replica=replica,
        )

    def _replica_in(self, rack: str, partition_id: int) -> int | None:
        racks = {node.node_id: node.rack for node in self._placement.nodes()}
        if racks.get(self._placement.node_id) == rack:
            return None
        replicas = self._placement.replicas(partition_id)
        return next((one for one in replicas if racks.get(one) == rack), None)

    def _is_sent_away(self, partition_id: int, offset: int, query: FetchQuery) -> bool:
        """Decided once for a fetch: when it is repeated, its client has not returned."""
        decided = query.sent_away
        if decided is None:
            decided = query.sent_away = {}
        if partition_id not in decided:
            key = partition_id, query.connection_id
            decided[partition_id] = not self._has_returned(key, offset)
        return decided[partition_id]

    def _has_returned(self, key: _Client, offset: int) -> bool:
        """The client does not get on there: the replica cannot be reached, or cannot read."""
        now_ms = self._clock.monotonic_ms()
        before, sent_ms = self._sent_away.pop(key, (offset, now_ms - RETURNED_MS))
        is_late = now_ms - sent_ms >= RETURNED_MS
        if before == _RETURNED and not is_late:
            self._sent_away[key] = before, sent_ms
            return True
        has_returned = before == offset and not is_late
        if len(self._sent_away) >= _MOST_CLIENTS:
            del self._sent_away[next(iter(self._sent_away))]
        self._sent_away[key] = (_RETURNED if has_returned else offset), now_ms
        return has_returned

    # ---- the follower

    def read(
        self,
        partition_id: int,
        item: FetchItem,
        query: FetchQuery,
        bytes_left: int,
        whole_first: bool,
        loads: bool,
        elsewhere: NotLeaderOrFollower,
    ) -> FetchedPartition:
        """Raises NotInMemory when a read begins; none does without `loads`.

        `elsewhere`: who leads the partition.
        """
        followed = query.followed
        reading = None if followed is None else followed.by_item.get(item)
        if followed is None or reading is None:
            refused = self._refusal(partition_id, item, elsewhere)
            if refused is not None:
                return FetchedPartition(item, refused.as_value())
            if not loads or (bytes_left <= 0 and not whole_first):
                return FetchedPartition(item)  # its offsets are not known here
            max_bytes = min(item.max_bytes, bytes_left)
            if followed is None:
                followed = query.followed = FollowedReads(self._clock.monotonic_ms())
            found = self._log.fetch(partition_id, item.offset, max_bytes, whole_first)
            reading = followed.by_item[item] = FollowedRead(found)
            if not reading.is_done:
                raise NotInMemory(reading.loading)
        if not reading.is_done and self._clock.monotonic_ms() - followed.begun_ms < PATIENCE_MS:
            return FetchedPartition(item)
        if reading.found is None:
            return FetchedPartition(item, elsewhere.as_value())
        return self._response(partition_id, item, reading.found, query, bytes_left, whole_first)

    def _refusal(
        self, partition_id: int, item: FetchItem, elsewhere: NotLeaderOrFollower
    ) -> BrokerError | None:
        placement = self._placement
        serves = (
            elsewhere.leader.node_id != NO_LEADER.node_id
            and placement.node_id in placement.replicas(partition_id)
            # Without it this broker may be cut off from the database in which records are deleted.
            and placement.has_lease
            and item.last_fetched_epoch <= NO_EPOCH
        )
        return None if serves else elsewhere

    def _response(
        self,
        partition_id: int,
        item: FetchItem,
        found: SealedRecords,
        query: FetchQuery,
        bytes_left: int,
        whole_first: bool,
    ) -> FetchedPartition:
        # The limits may have changed meanwhile.
        fits = whole_first or len(found.records) <= bytes_left
        return FetchedPartition(
            item,
            None,
            found.high_watermark,
            found.last_stable_offset,
            found.log_start_offset,
            found.records if fits else b"",
            found.aborted if query.read_committed and fits else (),
            followed=self._catalog.followed(partition_id),
        )
