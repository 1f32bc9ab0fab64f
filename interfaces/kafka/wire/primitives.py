"""Varints and tagged fields, and the one error that malformed bytes raise.

Compiled decoders read fixed-size fields and one-byte varints themselves; the rest, which is rare,
is here. Every loop is bounded by the remaining bytes, so a hostile length costs no extra time.
"""

from __future__ import annotations

from typing import TypeAlias

Buffer: TypeAlias = "bytes | bytearray | memoryview"

ZERO_UUID = bytes(16)
UVARINT_MAX_BYTES = 5


class MalformedRequest(Exception):
    """The bytes violate the protocol; the connection must be closed."""


def read_uvarint(buffer: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned varint and the position after it; IndexError at the end of the bytes."""
    first = buffer[pos]
    if first < 0x80:
        return first, pos + 1
    return finish_uvarint(buffer, pos + 1, first)


def finish_uvarint(buffer: Buffer, pos: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte is read and has its high bit set."""
    value = first & 0x7F
    for shift in range(7, 7 * UVARINT_MAX_BYTES, 7):
        byte = buffer[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
    raise MalformedRequest(f"a varint is longer than {UVARINT_MAX_BYTES} bytes")


def write_uvarint(value: int) -> bytes:
    if value < 0x80:
        return ONE_BYTE[value]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def skip_tagged_fields(buffer: Buffer, pos: int, count: int) -> int:
    """Skips unknown tagged fields; `count` is the first byte of the section, which may be a
    varint.
    """
    if count > 0x7F:
        count, pos = finish_uvarint(buffer, pos, count)
    limit = len(buffer)
    if count * 2 > limit - pos:
        raise MalformedRequest(f"{count} tagged fields do not fit in what is left")
    for _ in range(count):
        _, pos = read_uvarint(buffer, pos)
        size, pos = read_uvarint(buffer, pos)
        pos += size
        if pos > limit:
            raise MalformedRequest("a tagged field is longer than what is left")
    return pos


ONE_BYTE = tuple(bytes((value,)) for value in range(0x80))
