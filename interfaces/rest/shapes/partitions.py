"""Partitions and their replicas as JSON."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Literal

from typing_extensions import TypedDict

from interfaces.rest.shapes.common import Related, Resource, resource


class OfPartition(Resource):
    topic_name: str
    partition_id: int


@resource("KafkaPartition", "topics/{topic_name}/partitions/{partition_id}")
class PartitionBody(OfPartition):
    #: null: no broker leads the partition now.
    leader_id: int | None
    leader_epoch: int
    #: The preferred leader first. A replica may lead, and holds no copy.
    replica_ids: list[int]
    #: Those that are alive.
    in_sync_replica_ids: list[int]
    leader: Annotated[Related, "/replicas/{node_id}"]
    replicas: Annotated[Related, "/replicas"]
    reassignment: Annotated[Related, "/reassignment"]
    #: null: the log cannot be read, or another broker leads the partition.
    log_start_offset: Annotated[int | None, lambda found: found and found.log_start_offset]
    log_end_offset: Annotated[int | None, lambda found: found and found.high_watermark]


@resource("KafkaPartitionOffset", "topics/{topic_name}/partitions/{partition_id}/offset")
class OffsetsBody(OfPartition):
    beginning_offset: Annotated[int, attrgetter("log_start_offset")]
    end_offset: Annotated[int, attrgetter("high_watermark")]


@resource("KafkaReplica", "topics/{topic_name}/partitions/{partition_id}/replicas/{broker_id}")
class ReplicaBody(OfPartition):
    broker_id: int
    is_leader: bool
    is_in_sync: bool
    broker: Annotated[Related, "brokers/{broker_id}"]


@resource("KafkaReassignment", "topics/{topic_name}/partitions/{partition_id}/reassignment")
class ReassignmentBody(OfPartition):
    adding_replicas: list[int]
    removing_replicas: list[int]
    replicas: Annotated[Related, "topics/{topic_name}/partitions/{partition_id}/replicas"]


class PartitionRetention(TypedDict):
    partition_id: int
    size_bytes: int
    #: Milliseconds since 1970, the largest of the oldest batch; null without one.
    oldest_timestamp: int | None
    #: Milliseconds since 1970; null: nothing is removed before more records are appended.
    expires_at: int | None


UncleanableReason = Literal[
    "active_segment", "open_transaction", "min.compaction.lag.ms", "log.cleaner.enable"
]


class PartitionCompaction(TypedDict):
    partition_id: int
    first_dirty_offset: int
    #: Records from here on are not compacted yet.
    first_uncleanable_offset: int
    #: Why: in the active segment, too young, or the cleaner is off; null: there are none.
    uncleanable_reason: UncleanableReason | None
    #: The share of what can be compacted that is new since the last pass.
    dirty_ratio: float
    #: Milliseconds since 1970; null: not since the start.
    compacted_at: int | None
    #: By compaction, since the start of the broker.
    records_removed: int
