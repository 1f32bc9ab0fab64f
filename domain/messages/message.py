"""Message: one decoded record of a batch.

A record is its length, then attributes (unused), timestamp and offset as differences to the
batch's, key, value and headers; every number but the attributes a zigzag varint:

    length  attributes:1  timestamp_delta  offset_delta  key  value  n (name value)*n

Batches come from clients and may be malformed: each length and each count is compared with the
remaining bytes before anything is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.errors import InvalidRecord
from domain.messages.varint import read_varint, read_varlong, varlong

#: Names are bytes, because producers may send invalid UTF-8.
Headers = tuple[tuple[bytes, bytes | None], ...]

_MIN_RECORD_BYTES = 7
_MIN_HEADER_BYTES = 2
_NULL = b"\x01"


class Message:
    __slots__ = ("headers", "key", "offset", "timestamp", "value")

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Message({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


def decode_messages(
    payload: bytes | memoryview,
    base_offset: int,
    base_timestamp: int,
    count: int,
    log_append_timestamp: int | None = None,
) -> Iterator[Message]:
    """The records of an uncompressed batch, one by one, from the bytes after its header.

    With `log_append_timestamp` every record has that time. Raises InvalidRecord at malformed data,
    or if the number of records is not `count`.
    """
    for start, end in _bounds(payload, count):
        delta, position = read_varlong(payload, start + 1)
        timestamp = base_timestamp + delta if log_append_timestamp is None else log_append_timestamp
        offset_delta, position = read_varint(payload, position)
        key, position = _nullable_bytes(payload, position, end)
        value, position = _nullable_bytes(payload, position, end)
        headers, position = _headers(payload, position, end)
        if position != end:
            raise InvalidRecord("The length of a record is wrong.")
        yield Message(base_offset + offset_delta, timestamp, key, value, headers)


def decode_times(
    payload: bytes | memoryview, base_offset: int, base_timestamp: int, count: int
) -> Iterator[tuple[int, int]]:
    """Offset and timestamp of each record, for searches by timestamp.

    About a third of the cost of whole records.
    """
    for start, end in _bounds(payload, count):
        timestamp_delta, position = read_varlong(payload, start + 1)
        offset_delta, position = read_varint(payload, position)
        if position > end:
            raise InvalidRecord("The length of a record is wrong.")
        yield base_offset + offset_delta, base_timestamp + timestamp_delta


def check_lengths(payload: bytes | memoryview, count: int) -> None:
    """Raises InvalidRecord if these are not `count` records, by their lengths only."""
    for _ in _bounds(payload, count):
        pass


def encode_messages(messages: Sequence[Message], base_offset: int, base_timestamp: int) -> bytes:
    """The bytes that `decode_messages` reads, not compressed, without a batch header."""
    pieces: list[bytes] = []
    for message in messages:
        headers = message.headers
        fields = (
            b"\0",
            varlong(message.timestamp - base_timestamp),
            varlong(message.offset - base_offset),
            _encoded(message.key),
            _encoded(message.value),
            varlong(len(headers)),
        )
        record = b"".join(fields)
        if headers:
            record += b"".join([_encoded(part) for header in headers for part in header])
        pieces.append(varlong(len(record)))
        pieces.append(record)
    return b"".join(pieces)


def _bounds(payload: bytes | memoryview, count: int) -> Iterator[tuple[int, int]]:
    """Where each of `count` records begins and ends, after its length."""
    position, size = 0, len(payload)
    if count * _MIN_RECORD_BYTES > size:
        raise InvalidRecord(f"{count} records do not fit in {size} bytes.")
    for _ in range(count):
        length, position = read_varint(payload, position)
        end = position + length
        if length < _MIN_RECORD_BYTES - 1 or end > size:
            raise InvalidRecord(f"A record of {length} bytes, {size - position} are left.")
        yield position, end
        position = end
    if position != size:
        raise InvalidRecord(f"{size - position} bytes follow the last record.")


def _nullable_bytes(
    payload: bytes | memoryview, position: int, end: int
) -> tuple[bytes | None, int]:
    length, position = read_varint(payload, position)
    if length < 0:
        return None, position
    after = position + length
    if after > end:
        raise InvalidRecord(f"A field of {length} bytes, {end - position} are left.")
    return bytes(payload[position:after]), after


def _headers(payload: bytes | memoryview, position: int, end: int) -> tuple[Headers, int]:
    count, position = read_varint(payload, position)
    if count == 0:
        return (), position
    if count < 0 or count * _MIN_HEADER_BYTES > end - position:
        raise InvalidRecord(f"{count} headers do not fit in {end - position} bytes.")
    headers = []
    for _ in range(count):
        name, position = _nullable_bytes(payload, position, end)
        if name is None:
            raise InvalidRecord("A header has no name.")
        value, position = _nullable_bytes(payload, position, end)
        headers.append((name, value))
    return tuple(headers), position


def _encoded(field: bytes | None) -> bytes:
    return _NULL if field is None else varlong(len(field)) + field
