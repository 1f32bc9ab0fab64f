"""Batches for a log store: a header with offsets, and any bytes."""

from __future__ import annotations

import struct

HEADER_BYTES = 61


def batch(
    last_offset: int, content: bytes = b"", first_offset: int | None = None, size_bytes: int = 0
) -> bytes:
    """A batch with one record, or those from `first_offset`, of at least so many bytes."""
    first = last_offset if first_offset is None else first_offset
    body = content.ljust(size_bytes - HEADER_BYTES, b".")
    header = struct.pack(">qi11xi", first, HEADER_BYTES - 12 + len(body), last_offset - first)
    return header.ljust(HEADER_BYTES, b"\0") + body
