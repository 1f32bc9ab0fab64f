"""What the records of Kafka's internal topics have in common: their partition, and texts."""

from __future__ import annotations

from struct import Struct, unpack

#: Key and value.
Record = tuple[bytes, bytes | None]

_MAX_STRING_BYTES = (1 << 15) - 1
_NULL_STRING = b"\xff\xff"
_INT16 = Struct(">h")


class TooLong(Exception):
    """A text of more than 32767 bytes, which no record of Kafka's has."""


def partition_of(name: str, partitions: int) -> int:
    """As Kafka: by Java's hash code of the group id or transactional id."""
    code = 0
    encoded = name.encode("utf-16-be")
    for unit in unpack(f">{len(encoded) // 2}H", encoded):
        code = (31 * code + unit) & 0xFFFFFFFF
    if code == 1 << 31:  # its negation is no Java int
        return 0
    return (code if code < 1 << 31 else (1 << 32) - code) % partitions


def string(text: str | None) -> bytes:
    if text is None:
        return _NULL_STRING
    encoded = text.encode()
    if len(encoded) > _MAX_STRING_BYTES:
        raise TooLong(text[:100])
    return _INT16.pack(len(encoded)) + encoded
