"""Record batches for tests, built independently of the code under test.

    record_batch(["a", "b"])                                 two values, null keys
    record_batch([(b"k", b"v", [("h", b"1")], 1_700_000)])   key, value, headers, timestamp

Batches with false headers (`count`, `payload`, ...) still get a valid checksum.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence

import cramjam
from crc32c import crc32c

Header = tuple[str | bytes, bytes | None]
Value = str | bytes | None
Record = Value | tuple[Value, Value, Sequence[Header], int]

TIMESTAMP = 1_700_000_000_000
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)

_LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x08, 0x10, 0x20


def record_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    magic: int = 2,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    codec: int = NONE,
    transactional: bool = False,
    control: bool = False,
    log_append_time: bool = False,
    timestamp: int = TIMESTAMP,
    max_timestamp: int | None = None,
    count: int | None = None,
    last_offset_delta: int | None = None,
    payload: bytes | None = None,
) -> bytearray:
    """One batch as a producer sends it; `timestamp` is for records without one."""
    rows = [_row(record, timestamp) for record in records]
    base_timestamp = rows[0][3] if rows else timestamp
    largest = max((row[3] for row in rows), default=timestamp)
    if payload is None:
        payload = records_section(rows, base_timestamp)
    attributes = (
        codec
        | (_LOG_APPEND_TIME if log_append_time else 0)
        | (_TRANSACTIONAL if transactional else 0)
        | (_CONTROL if control else 0)
    )
    covered = struct.pack(
        ">hiqqqhii",
        attributes,
        len(rows) - 1 if last_offset_delta is None else last_offset_delta,
        base_timestamp,
        largest if max_timestamp is None else max_timestamp,
        producer_id,
        epoch,
        sequence,
        len(rows) if count is None else count,
    ) + compressed(codec, payload)
    head = struct.pack(
        ">qiibI", base_offset, len(covered) + 9, leader_epoch, magic, crc32c(covered)
    )
    return bytearray(head + covered)


def records_section(
    rows: Sequence[tuple[bytes | None, bytes | None, Sequence[Header], int]],
    base_timestamp: int,
    first_delta: int = 0,
) -> bytes:
    section = b""
    for delta, (key, value, headers, timestamp) in enumerate(rows, first_delta):
        record = b"\0" + varint(timestamp - base_timestamp) + varint(delta)
        record += _field(key) + _field(value) + varint(len(headers))
        for name, content in headers:
            record += _field(_bytes(name)) + _field(content)
        section += varint(len(record)) + record
    return section


def compressed(codec: int, payload: bytes) -> bytes:
    if codec == GZIP:
        return gzip.compress(payload, mtime=0)
    if codec == SNAPPY:
        return bytes(cramjam.snappy.compress_raw(payload))
    if codec == LZ4:
        frame = cramjam.lz4.Compressor(block_linked=False)  # Java reads no other
        frame.compress(payload)
        return bytes(frame.finish())
    if codec == ZSTD:
        return bytes(cramjam.zstd.compress(payload))
    return payload


def varint(number: int) -> bytes:
    zigzag = number * 2 if number >= 0 else -number * 2 - 1
    encoded = b""
    while zigzag >= 128:
        encoded += bytes([zigzag % 128 + 128])
        zigzag //= 128
    return encoded + bytes([zigzag])


def _row(
    record: Record, timestamp: int
) -> tuple[bytes | None, bytes | None, Sequence[Header], int]:
    if isinstance(record, tuple):
        key, value, headers, timestamp = record
        return _bytes(key), _bytes(value), headers, timestamp
    return None, _bytes(record), (), timestamp


def _bytes(value: Value) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _field(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content
