"""End markers: the control batches that end transactions, byte for byte as Kafka writes them.

The key of the record is a version and a type, its value a version and the coordinator's epoch.
"""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from domain.errors import InvalidRecord
from domain.messages.batch import CONTROL, TRANSACTIONAL, Checksum, RecordBatch
from domain.messages.building import build_batch
from domain.messages.message import Message, decode_messages

_VERSION = 0
_ABORT, _COMMIT = 0, 1
_KEY = Struct(">hh")
_VALUE = Struct(">hi")


class EndMarker(NamedTuple):
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool


def end_marker(marker: EndMarker, now_ms: int, checksum: Checksum) -> RecordBatch:
    key = _KEY.pack(_VERSION, _COMMIT if marker.committed else _ABORT)
    value = _VALUE.pack(_VERSION, marker.coordinator_epoch)
    batch = build_batch(
        [Message(0, now_ms, key, value)],
        checksum,
        attributes=TRANSACTIONAL | CONTROL,
        producer=(marker.producer_id, marker.producer_epoch),
    )
    return RecordBatch(memoryview(batch))


def read_end_marker(batch: RecordBatch) -> EndMarker | None:
    """None if compaction has removed the record, or if it is another control record."""
    try:
        records = decode_messages(batch.records, batch.base_offset, batch.base_timestamp, 1)
        record = next(records) if batch.count else None
        if record is None or record.key is None or record.value is None:
            return None
        kind = _KEY.unpack_from(record.key)[1]
        if kind not in (_ABORT, _COMMIT):
            return None
        coordinator_epoch = _VALUE.unpack_from(record.value)[1]
    except (InvalidRecord, StructError):
        return None
    return EndMarker(batch.producer_id, batch.producer_epoch, coordinator_epoch, kind == _COMMIT)
