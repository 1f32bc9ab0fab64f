"""Builds batches of records from REST clients, and for clones of topics.

All other batches are stored as their producer built them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.messages.batch import (
    CHECKSUM_START,
    CRC,
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    NO_PRODUCER_ID,
    PRODUCER,
    PRODUCER_START,
    TRANSACTIONAL,
    Checksum,
    RecordBatch,
)
from domain.messages.message import Message, encode_messages

MAGIC = 2
NO_EPOCH = -1
NO_SEQUENCE = -1

Compress = Callable[[int, bytes], bytes]


def build_batch(
    messages: Sequence[Message],
    checksum: Checksum,
    codec: int = 0,
    compress: Compress | None = None,
    attributes: int = 0,
    producer: tuple[int, int] = (NO_PRODUCER_ID, NO_EPOCH),
    base_sequence: int = NO_SEQUENCE,
) -> bytearray:
    """A batch whose offsets start at 0, without gaps.

    `producer`: its id and epoch.
    """
    numbered = [
        Message(index, each.timestamp, each.key, each.value, each.headers)
        for index, each in enumerate(messages)
    ]
    base_timestamp = numbered[0].timestamp
    records = encode_messages(numbered, 0, base_timestamp)
    if codec and compress is not None:
        records = compress(codec, records)
    return batch_with_header(
        records,
        len(numbered),
        base_timestamp,
        max(each.timestamp for each in numbered),
        checksum,
        attributes | codec,
        producer,
        base_sequence,
    )


def batch_with_header(
    records: bytes,
    count: int,
    base_timestamp: int,
    max_timestamp: int,
    checksum: Checksum,
    attributes: int = 0,
    producer: tuple[int, int] = (NO_PRODUCER_ID, NO_EPOCH),
    base_sequence: int = NO_SEQUENCE,
) -> bytearray:
    """The whole batch, of encoded records."""
    batch = bytearray(HEADER_BYTES)
    HEADER.pack_into(
        batch,
        0,
        0,
        HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(records),
        NO_EPOCH,
        MAGIC,
        0,
        attributes,
        count - 1,
        base_timestamp,
        max_timestamp,
        *producer,
        base_sequence,
        count,
    )
    batch += records
    CRC.pack_into(batch, CRC_START, checksum(memoryview(batch)[CHECKSUM_START:]))
    return batch


def without_producer(batch: RecordBatch, checksum: Checksum) -> None:
    """Removes the producer id, in place: sequence numbers are valid in one log only.

    And the bit of a transaction, which must be committed.
    """
    if batch.producer_id == NO_PRODUCER_ID:
        return
    batch.set_attributes(batch.attributes & ~TRANSACTIONAL)
    batch.producer_id, batch.producer_epoch, batch.base_sequence = (
        NO_PRODUCER_ID,
        NO_EPOCH,
        NO_SEQUENCE,
    )
    PRODUCER.pack_into(batch.buffer, PRODUCER_START, NO_PRODUCER_ID, NO_EPOCH, NO_SEQUENCE)
    batch.crc = checksum(batch.buffer[CHECKSUM_START : batch.size_bytes])
    CRC.pack_into(batch.buffer, CRC_START, batch.crc)
