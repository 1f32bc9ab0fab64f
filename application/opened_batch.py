"""Opening a batch: the few places that look at records go through here."""

from __future__ import annotations

from application.ports.compression import Compression
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import Message, decode_messages

#: No batch is worth more memory than this, however well it was compressed.
MAX_OPENED_BYTES = 128 * 1024 * 1024


def open_batch(batch: RecordBatch, compression: Compression) -> list[Message]:
    """Raises CorruptMessage or InvalidRecord when the records are not what the header says."""
    payload = compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
    log_append_time = batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else None
    return list(
        decode_messages(
            payload, batch.base_offset, batch.base_timestamp, batch.count, log_append_time
        )
    )
