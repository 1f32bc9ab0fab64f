"""Segments: where a copy of a log begins its segments, for an engine that stores them."""

from __future__ import annotations

from domain.configs.topic import TopicConfig
from domain.messages.batch import NO_TIMESTAMP, RecordBatch
from domain.partitions.active_segment import EMPTY_SEGMENT, ActiveSegment, SegmentState


class Segments:
    """As the broker rolls them; and the active one begins where the rows say."""

    def __init__(self, config: TopicConfig, active_base: int | None) -> None:
        self._config = config
        #: None: it has begun.
        self._active_base = active_base
        self._appended_bytes = 0
        self._segment = ActiveSegment(EMPTY_SEGMENT, 0, config)

    def begins_with(self, batch: RecordBatch) -> bool:
        """Batches in the order of the log."""
        size_bytes = batch.size_bytes
        self._appended_bytes += size_bytes
        begins_active = self._active_base is not None and batch.base_offset >= self._active_base
        if begins_active:
            self._active_base = None
            begun = SegmentState(batch.base_offset, size_bytes, NO_TIMESTAMP)
            self._segment = ActiveSegment(begun, self._appended_bytes, self._config)
        segment = self._segment
        if (
            batch.max_timestamp > segment.ends_at_timestamp
            or self._appended_bytes > segment.ends_at_bytes
        ):
            segment.extend(batch, self._appended_bytes, self._config)
        return begins_active or segment.base_offset == batch.base_offset
