"""A page of records, as JSON."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from interfaces.rest.shapes.common import ListMetadata

Transaction = Literal["open", "committed", "aborted", "commit_marker", "abort_marker"]
Shown = Literal["json", "string", "base64", "null"]


class HeaderBody(TypedDict):
    name: str
    value: str | None
    value_format: Shown


class RecordBody(TypedDict):
    partition_id: int
    offset: int
    timestamp: int
    timestamp_type: Literal["create_time", "log_append_time"]
    key: Any
    key_format: Shown
    key_size: int
    value: Any
    value_format: Shown
    value_size: int
    headers: list[HeaderBody]
    size: int
    #: With `transactions=true`.
    producer_id: NotRequired[int]
    producer_epoch: NotRequired[int]
    transaction: NotRequired[Transaction | None]


class OffsetsLeft(TypedDict):
    start_offset: int
    end_offset: int


class PartitionProgress(TypedDict):
    partition_id: int
    start_offset: int
    end_offset: int
    log_end_offset: int
    left: OffsetsLeft | None


class RecordList(TypedDict):
    kind: str
    metadata: ListMetadata
    cluster_id: str
    topic_name: str
    order: Literal["oldest", "newest"]
    stopped_because: Literal["limit", "bytes", "time", "end"]
    next_cursor: str | None
    found: int
    scanned: int
    unreadable_batches: int
    partitions: list[PartitionProgress]
    data: list[RecordBody]
