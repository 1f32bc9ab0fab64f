"""Opens batches for the few callers that read records.

A few hundred compressed bytes may hold a million records, so bytes and records are limited, and
records are decoded one by one, as far as the caller reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from application.ports.compression import Compression
from domain.errors import InvalidRecord
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import Message, decode_messages, decode_times

#: The most memory for a batch after decompression,
MAX_OPENED_BYTES = 64 * 1024 * 1024
#: and the most records, which take time of the loop.
MAX_OPENED_RECORDS = 100_000


def open_messages(batch: RecordBatch, compression: Compression) -> Iterator[Message]:
    """Raises CorruptMessage or InvalidRecord if records and header disagree."""
    return messages_in(batch, open_batch(batch, compression))


def messages_in(batch: RecordBatch, opened: bytes) -> Iterator[Message]:
    log_append_time = batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else None
    return decode_messages(
        opened, batch.base_offset, batch.base_timestamp, batch.count, log_append_time
    )


def open_times(batch: RecordBatch, compression: Compression) -> Iterator[tuple[int, int]]:
    """Offset and timestamp of each record, for less than half the cost."""
    opened = open_batch(batch, compression)
    return decode_times(opened, batch.base_offset, batch.base_timestamp, batch.count)


def too_many_to_open(batch: RecordBatch) -> bool:
    return batch.count > MAX_OPENED_RECORDS


def open_batch(batch: RecordBatch, compression: Compression) -> bytes:
    """The decompressed bytes of the records."""
    check_count(batch)
    return decompressed(batch, compression)


def check_count(batch: RecordBatch) -> None:
    if too_many_to_open(batch):
        raise InvalidRecord(
            f"A batch of {batch.count} records cannot be opened: the limit is {MAX_OPENED_RECORDS}"
        )


def decompressed(batch: RecordBatch, compression: Compression) -> bytes:
    """For callers that do not decode all records."""
    return compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
