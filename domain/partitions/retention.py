"""Retention: which batches at the front of a log have expired.

By time: a batch whose largest timestamp is older than `retention.ms`, if all batches before it have
expired, too. A batch without a timestamp expires only together with a later one. By size: the
oldest batch, as long as `retention.bytes` remain without it. The rule that removes more decides.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from domain.configs.topic import TopicConfig
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition


class Reason(Enum):
    TIME = "time"
    SIZE = "size"


class Expired(NamedTuple):
    """The log starts at `offset` from now on."""

    offset: int
    reason: Reason


class Front(NamedTuple):
    """Changes with each log start and each removed batch."""

    start_offset: int
    removed_bytes: int


def front_of(partition: Partition) -> Front:
    end = partition.end
    return Front(end.start_offset, end.appended_bytes - end.size_bytes)


class Oldest(NamedTuple):
    """The oldest batch that stays: until it expires, nothing does."""

    #: None if the partition is not loaded: its front does not change then.
    front: Front | None
    max_timestamp: int
    size_bytes: int

    def may_expire(self, config: TopicConfig, now_ms: int, log_bytes: int | None) -> bool:
        """`log_bytes`: None if the partition is not loaded."""
        if 0 <= config.retention_ms < now_ms - self.max_timestamp:
            return True
        return config.retention_bytes >= 0 and (
            log_bytes is None or log_bytes - self.size_bytes >= config.retention_bytes
        )

    def expires_ms(self, config: TopicConfig, now_ms: int, log_bytes: int) -> int | None:
        """After this time it is removed; None: not before more records are appended."""
        if 0 <= config.retention_bytes <= log_bytes - self.size_bytes:
            return now_ms
        if config.retention_ms < 0 or self.max_timestamp < 0:
            return None
        return self.max_timestamp + config.retention_ms


class Retention:
    """Gets the batches of a partition, from the oldest stored one on.

    With a limit of time only, from `expired_to` on: all batches below have expired.
    """

    __slots__ = ("_expired_before", "_spare_bytes", "_start_offset", "expired")

    def __init__(self, partition: Partition, now_ms: int, expired_to: int = 0) -> None:
        config, end = partition.config, partition.end
        by_time, by_size = config.retention_ms >= 0, config.retention_bytes >= 0
        #: Timestamps; 0: no further batch expires by time.
        self._expired_before = now_ms - config.retention_ms if by_time else 0
        #: Negative: no further batch expires by size.
        self._spare_bytes = end.size_bytes - config.retention_bytes if by_size else -1
        self._start_offset = end.start_offset
        self.expired: Expired | None = None
        if expired_to > end.start_offset:
            self.expired = Expired(expired_to, Reason.TIME)

    def add(self, batch: RecordBatch) -> bool:
        """False: this batch stays, and so do all later ones."""
        next_offset, size_bytes = batch.last_offset + 1, batch.size_bytes
        if next_offset <= self._start_offset:  # deleted, but still stored
            self._spare_bytes -= size_bytes
            return True
        if size_bytes <= self._spare_bytes:
            self._spare_bytes -= size_bytes
            self.expired = Expired(next_offset, Reason.SIZE)
        else:
            self._spare_bytes = -1
        if batch.max_timestamp >= self._expired_before:
            self._expired_before = 0
        elif batch.max_timestamp >= 0:
            self.expired = Expired(next_offset, Reason.TIME)
        return self._spare_bytes >= 0 or self._expired_before > 0
