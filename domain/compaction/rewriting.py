"""Writes a batch again without some of its records, as Kafka's `MemoryRecords.filterTo` does.

Base offset, last offset, leader epoch, producer, sequence, codec and timestamp type stay, so that
offsets and retries are found as before.

    base timestamp   of the first record that stays; or the delete horizon, with its bit (KIP-534):
                     the time from which the tombstones of the batch may be removed
    max timestamp    of the records that stay; as before with log append time, or without records
"""

from __future__ import annotations

from itertools import compress as selected

from domain.compaction.records import read_timestamp_delta, record_bounds, with_timestamp_delta
from domain.configs.settings.definition import LONG_MAX
from domain.errors import InvalidRecord
from domain.messages.batch import (
    CHECKSUM_START,
    CONTROL,
    CRC,
    CRC_START,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    Checksum,
    RecordBatch,
)
from domain.messages.building import Compress


def rewritten(
    batch: RecordBatch,
    payload: bytes,
    stays: list[bool],
    delete_horizon_ms: int | None,
    compress: Compress,
    checksum: Checksum,
) -> bytes:
    """The batch with the records that stay, at least one.

    Raises InvalidRecord if a timestamp is no int64, or too far from the base timestamp.
    """
    bounds = record_bounds(payload, len(stays))
    starts = list(selected(bounds, stays))
    times = [read_timestamp_delta(payload, start) for start in starts]
    before = [delta for delta, _ in times]
    largest = max(NO_TIMESTAMP, batch.base_timestamp + max(before))
    timestamps = [batch.base_timestamp + delta for delta in before]
    if batch.attributes & LOG_APPEND_TIME:
        largest = batch.max_timestamp
        timestamps = [largest] * len(starts)
    base_timestamp = timestamps[0] if delete_horizon_ms is None else delete_horizon_ms
    deltas = [timestamp - base_timestamp for timestamp in timestamps]
    lowest, highest = min(*timestamps, *deltas), max(*timestamps, *deltas)
    if lowest < -LONG_MAX - 1 or highest > LONG_MAX:
        raise InvalidRecord("A timestamp does not fit in 64 bits.")
    ends = selected(bounds[1:], stays)
    if deltas == before:
        pieces = [payload[start:end] for start, end in zip(starts, ends, strict=True)]
    else:
        pieces = [
            with_timestamp_delta(payload[rest:end], delta)
            for (_, rest), end, delta in zip(times, ends, deltas, strict=True)
        ]
    content = b"".join(pieces)
    attributes = batch.attributes & ~DELETE_HORIZON
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON
    if batch.codec:
        content = compress(batch.codec, content)
    return _with(batch, attributes, base_timestamp, largest, len(starts), content, checksum)


def emptied(batch: RecordBatch, checksum: Checksum) -> bytes:
    """The batch without records: it has the last sequence of a producer, or ends the log."""
    attributes = batch.attributes & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL)
    return _with(batch, attributes, NO_TIMESTAMP, batch.max_timestamp, 0, b"", checksum)


def _with(
    batch: RecordBatch,
    attributes: int,
    base_timestamp: int,
    max_timestamp: int,
    count: int,
    content: bytes,
    checksum: Checksum,
) -> bytes:
    new = bytearray(HEADER_BYTES)
    HEADER.pack_into(
        new,
        0,
        batch.base_offset,
        HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(content),
        batch.leader_epoch,
        batch.magic,
        0,
        attributes,
        batch.last_offset_delta,
        base_timestamp,
        max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        count,
    )
    new += content
    CRC.pack_into(new, CRC_START, checksum(memoryview(new)[CHECKSUM_START:]))
    return bytes(new)
