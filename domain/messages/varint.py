"""Zigzag varints of records: groups of seven bits, the sign in the lowest bit."""

from __future__ import annotations

from domain.errors import InvalidRecord

#: An int32 has up to five groups, an int64 ten; longer ones are refused.
_VARINT_BITS = 32
_VARLONG_BITS = 64


def read_varint(buffer: bytes | memoryview, position: int) -> tuple[int, int]:
    """The int32 at `position`, and the position after it."""
    return _read(buffer, position, _VARINT_BITS)


def read_varlong(buffer: bytes | memoryview, position: int) -> tuple[int, int]:
    return _read(buffer, position, _VARLONG_BITS)


def varlong(value: int) -> bytes:
    """The shortest encoding; an int32 is encoded alike."""
    if 0 <= value < len(_SMALL):  # hot path
        return _SMALL[value]
    return varuint(zigzag(value))


def varuint(value: int) -> bytes:
    """Without a sign, as in flexible versions of messages."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def zigzag(value: int) -> int:
    """The sign in the lowest bit."""
    return (value << 1) ^ (value >> 63)


_SMALL = tuple(varuint(zigzag(value)) for value in range(128))


def _read(buffer: bytes | memoryview, position: int, bits: int) -> tuple[int, int]:
    raw = 0
    try:
        for shift in range(0, bits, 7):
            byte = buffer[position]
            position += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise InvalidRecord(f"A varint is longer than {shift // 7 + 1} bytes.")
    except IndexError:
        raise InvalidRecord("A record ends within a varint.") from None
    if raw >> bits:
        raise InvalidRecord(f"A varint does not fit in {bits} bits.")
    return (raw >> 1) ^ -(raw & 1), position
