"""A segment: one file of a log, consecutive batches (format v2) with checksums.

Files of metadata snapshots (`.checkpoint`) are alike. Indexes are not read: they can be rebuilt.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from domain.errors import BrokerError
from domain.messages.batch import (
    CODEC_MASK,
    CODEC_ZSTD,
    CONTROL,
    HEADER_BYTES,
    RecordBatch,
)
from domain.messages.message import Message, decode_messages
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.kafka_folder.refused import Damaged, FolderRefused, readable

MAGIC = 2
_MAGIC_AT = 16
_BUFFER_BYTES = 1 << 20
#: Of the records of one batch of the broker's own topics.
_LARGEST_BATCH_BYTES = 256 << 20


def batches(path: Path, base_offset: int) -> Iterator[RecordBatch]:
    """Every batch, checked; no offset is below `base_offset`. Raises Damaged."""
    position, next_offset = 0, base_offset
    with readable(path), path.open("rb", _BUFFER_BYTES) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        while position < size_bytes:
            header = file.read(HEADER_BYTES)
            if len(header) > _MAGIC_AT and header[_MAGIC_AT] in (0, 1) and any(header):
                raise FolderRefused(
                    f"{path} has batches of message format v{header[_MAGIC_AT]}; only v2 is read"
                )
            if len(header) < HEADER_BYTES:
                raise Damaged(path, position, f"{len(header)} bytes are left, not a batch")
            batch = RecordBatch(memoryview(header))
            left = size_bytes - position
            if not HEADER_BYTES <= batch.size_bytes <= left:
                what = f"a batch of {batch.size_bytes} bytes, {left} are left"
                raise Damaged(path, position, what)
            data = bytearray(header)
            data += file.read(batch.size_bytes - HEADER_BYTES)
            if len(data) < batch.size_bytes:
                raise Damaged(path, position, "the file became shorter")
            batch.buffer = memoryview(data)
            if why := _problem(batch, next_offset):
                raise Damaged(path, position, why)
            yield batch
            position += batch.size_bytes
            next_offset = batch.last_offset + 1


def _problem(batch: RecordBatch, next_offset: int) -> str | None:
    if batch.magic != MAGIC:
        return f"a batch of format {batch.magic}"
    try:
        batch.check_crc(crc32c)
    except BrokerError:
        return "a batch with a wrong checksum"
    if batch.base_offset < next_offset:
        return f"a batch at offset {batch.base_offset}, below {next_offset}"
    if batch.last_offset_delta < 0 or not 0 <= batch.count <= batch.last_offset_delta + 1:
        return f"a batch of {batch.count} records in {batch.last_offset_delta + 1} offsets"
    if batch.attributes & CODEC_MASK > CODEC_ZSTD:
        return f"a batch with the unknown compression {batch.attributes & CODEC_MASK}"
    return None


def messages_of(batch: RecordBatch) -> list[Message]:
    """None of a control batch. Raises BrokerError."""
    if batch.attributes & CONTROL:
        return []
    records = BatchCompression().decompress(batch.codec, batch.records, _LARGEST_BATCH_BYTES)
    return list(decode_messages(records, batch.base_offset, batch.base_timestamp, batch.count))
