"""Producer snapshots: what Kafka knows of the idempotent producers of a partition at an offset.

version 1: int16   CRC-32C: uint32, of all that follows   number: int32
of each: producer id int64, epoch int16, last sequence int32, last offset int64,
         offset delta int32, timestamp int64, coordinator epoch int32,
         first offset of the open transaction int64
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from domain.messages.batch import MAX_SEQUENCE
from domain.partitions.producers import AppendedBatch, ProducerState
from infrastructure.codecs.checksum import crc32c
from infrastructure.kafka_folder.refused import FolderRefused, readable

VERSION = 1
_HEAD = Struct(">hIi")
_CRC_END = 6
_ENTRY = Struct(">qhiqiqiq")
_NONE = -1


class SnapshotEntry(NamedTuple):
    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    #: -1: no transaction is open.
    first_offset: int

    def state(self) -> ProducerState:
        """With the last batch only, which is all that Kafka knows after a restart."""
        state = ProducerState(self.producer_id, self.epoch, self.timestamp)
        state.coordinator_epoch = self.coordinator_epoch
        if self.last_sequence != _NONE and self.last_offset != _NONE:
            delta = self.offset_delta
            first_sequence = (self.last_sequence - delta) & MAX_SEQUENCE
            state.batches.append(
                AppendedBatch(
                    first_sequence,
                    self.last_sequence,
                    self.last_offset - delta,
                    self.last_offset,
                    self.timestamp,
                )
            )
        return state


def entry_of(state: ProducerState) -> SnapshotEntry:
    """Of a producer without an open transaction."""
    sequence, last_offset, delta = _NONE, _NONE, 0
    if state.batches:
        last = state.batches[-1]
        sequence, last_offset = last.last_sequence, last.last_offset
        delta = last.last_offset - last.base_offset
    return SnapshotEntry(
        state.producer_id,
        state.epoch,
        sequence,
        last_offset,
        delta,
        state.last_timestamp,
        state.coordinator_epoch,
        _NONE,
    )


def snapshot(entries: Iterable[SnapshotEntry]) -> bytes:
    """The content of a file."""
    rows = [_ENTRY.pack(*one) for one in entries]
    checked = _HEAD.pack(VERSION, 0, len(rows))[_CRC_END:] + b"".join(rows)
    return _HEAD.pack(VERSION, crc32c(memoryview(checked)), len(rows)) + b"".join(rows)


def read_snapshot(path: Path) -> list[SnapshotEntry]:
    with readable(path):
        data = path.read_bytes()
    if len(data) < _HEAD.size:
        raise FolderRefused(f"{path} is cut off: {len(data)} bytes")
    version, crc, count = _HEAD.unpack_from(data)
    if version != VERSION:
        raise FolderRefused(f"{path} has version {version}, not {VERSION}")
    if count < 0 or len(data) != _HEAD.size + count * _ENTRY.size:
        raise FolderRefused(f"{path} has {len(data)} bytes, which are not {count} producers")
    if crc32c(memoryview(data)[_CRC_END:]) != crc:
        raise FolderRefused(f"{path} is damaged: its checksum is wrong")
    return [SnapshotEntry(*one) for one in _ENTRY.iter_unpack(data[_HEAD.size :])]
