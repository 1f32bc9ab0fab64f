"""Opening a batch: the few places that look at records go through here.

Records are the one part of a request whose cost a client can hide: a few hundred compressed bytes
may hold a million of them. So there is a bound on both, and what is read is read one by one, as
far as the caller goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from application.ports.compression import Compression
from domain.errors import InvalidRecord
from domain.messages.batch import LOG_APPEND_TIME, RecordBatch
from domain.messages.message import Message, decode_messages, decode_times

#: No batch is worth more memory than this, however well it was compressed,
MAX_OPENED_BYTES = 64 * 1024 * 1024
#: nor more of the loop's time than so many records take.
MAX_OPENED_RECORDS = 100_000


def open_messages(batch: RecordBatch, compression: Compression) -> Iterator[Message]:
    """Raises CorruptMessage or InvalidRecord when the records are not what the header says."""
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
    """The bytes of its records, as they were before the producer compressed them."""
    if too_many_to_open(batch):
        raise InvalidRecord(
            f"A batch of {batch.count} records cannot be looked into: at most "
            f"{MAX_OPENED_RECORDS} can"
        )
    return compression.decompress(batch.codec, batch.records, MAX_OPENED_BYTES)
