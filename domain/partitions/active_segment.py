"""ActiveSegment: the newest part of a log, which compaction does not change, as in Kafka.

A log has no segment files, but a batch begins a new segment where it would in Kafka: if the segment
became larger than `segment.bytes`, or if its timestamp is more than `segment.ms` after the first
one of the segment. A partition checks two limits at each batch (`Partition._advance`).
"""

from __future__ import annotations

from typing import NamedTuple

from domain.configs.topic import TopicConfig
from domain.messages.batch import NO_TIMESTAMP, RecordBatch


class SegmentState(NamedTuple):
    """In a snapshot."""

    base_offset: int
    size_bytes: int
    #: NO_TIMESTAMP if no batch has one.
    first_timestamp: int


EMPTY_SEGMENT = SegmentState(0, 0, NO_TIMESTAMP)


class ActiveSegment:
    __slots__ = (
        "_begins_at_bytes", "_first_timestamp", "base_offset", "ends_at_bytes", "ends_at_timestamp",
    )  # fmt: skip

    ends_at_bytes: int
    ends_at_timestamp: int

    def __init__(self, state: SegmentState, appended_bytes: int, config: TopicConfig) -> None:
        """`appended_bytes`: since the partition was loaded, here and below."""
        self.base_offset = state.base_offset
        self._begins_at_bytes = appended_bytes - state.size_bytes
        self._first_timestamp = state.first_timestamp
        self.limit(config)

    def limit(self, config: TopicConfig) -> None:
        """A batch that goes beyond one of the limits has to be passed to `extend`."""
        self.ends_at_bytes = self._begins_at_bytes + config.segment_bytes
        self.ends_at_timestamp = NO_TIMESTAMP
        if self._first_timestamp != NO_TIMESTAMP:
            self.ends_at_timestamp = self._first_timestamp + config.largest_segment_ms

    def extend(self, batch: RecordBatch, appended_bytes: int, config: TopicConfig) -> None:
        """The batch begins a new segment, or is the first of this one that has a timestamp."""
        if self._first_timestamp != NO_TIMESTAMP or appended_bytes > self.ends_at_bytes:
            self.base_offset = batch.base_offset
            self._begins_at_bytes = appended_bytes - batch.size_bytes
        self._first_timestamp = batch.max_timestamp
        self.limit(config)

    def state(self, appended_bytes: int) -> SegmentState:
        size_bytes = appended_bytes - self._begins_at_bytes
        return SegmentState(self.base_offset, size_bytes, self._first_timestamp)
