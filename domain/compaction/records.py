"""Records of a batch as compaction sees them: key, offset, whether there is a value, and bounds.

A log has millions of records, so one loop reads only the start of each and makes no objects of
them: parallel lists, which the offset map and the filter handle as a whole.

    length  attributes:1  timestamp_delta  offset_delta  key  value  n (name value)*n
"""

from __future__ import annotations

from hashlib import blake2s
from typing import NamedTuple

from domain.errors import InvalidRecord
from domain.messages.varint import read_varint, read_varlong, varlong, zigzag

#: Longer keys are compared by a digest, which is longer than any key that is not. A `bytes` of
#: either length takes 64 bytes of memory.
LONGEST_KEY = 30
DIGEST_BYTES = 31

_MIN_RECORD_BYTES = 7


class Records(NamedTuple):
    #: Keys as the offset map has them; None for records without a key.
    keys: list[bytes | None]
    offsets: list[int]
    #: Where records begin, with their length; the last entry is the end of the last record.
    bounds: list[int]
    #: Positions of records without a value.
    tombstones: list[int]


def read_records(payload: bytes, base_offset: int, last_offset_delta: int, count: int) -> Records:
    """The records of an uncompressed batch, from the bytes after its header.

    Raises InvalidRecord if the bytes are not `count` records with ascending offsets of the batch.
    """
    if count * _MIN_RECORD_BYTES > len(payload):
        raise InvalidRecord(f"{count} records do not fit in {len(payload)} bytes.")
    try:
        found = _read(payload, base_offset, count)
    except IndexError:
        raise InvalidRecord("A record ends within a varint.") from None
    last_offset = found.offsets[-1] if found.offsets else base_offset
    if found.bounds[-1] != len(payload) or last_offset > base_offset + last_offset_delta:
        raise InvalidRecord("The records end elsewhere than their batch.")
    return found


def _read(payload: bytes, base_offset: int, count: int) -> Records:
    found = Records([], [], [0], [])
    add_key, add_offset, add_bound = found.keys.append, found.offsets.append, found.bounds.append
    longest_key = LONGEST_KEY << 1
    end = 0
    offset_before = base_offset - 1
    # Numbers of one or two groups are read here: a call costs as much as the rest of the record.
    # Without its sign, which is the lowest bit, a number is twice as large.
    for index in range(count):
        length = payload[end]
        position = end + 2  # behind the attributes
        if length > 0x7F:
            more = payload[end + 1]
            position = end + 3
            if more > 0x7F:
                decoded, position = read_varint(payload, end)
                length = zigzag(decoded)
                position += 1
            else:
                length += (more << 7) - 0x80
        end = position - 1 + (length >> 1)
        while payload[position] > 0x7F:  # the timestamp
            position += 1
        delta = payload[position + 1]
        if delta > 0x7F:
            more = payload[position + 2]
            if more > 0x7F:
                decoded, position = read_varint(payload, position + 1)
                delta = zigzag(decoded)
            else:
                delta += (more << 7) - 0x80
                position += 3
        else:
            position += 2
        offset = base_offset + (delta >> 1)
        if offset <= offset_before or (length | delta) & 1:
            raise InvalidRecord("A negative length, or offsets that do not ascend.")
        offset_before = offset
        key_length = payload[position]
        position += 1
        if key_length > 0x7F:
            decoded, position = read_varint(payload, position - 1)
            key_length = zigzag(decoded)
        if key_length & 1:
            add_key(None)
        else:
            key_start = position
            position += key_length >> 1
            key = payload[key_start:position]
            if key_length > longest_key:
                key = blake2s(key, digest_size=DIGEST_BYTES).digest()
            add_key(key)
        if payload[position] & 1:
            found.tombstones.append(index)
        if position >= end:
            raise InvalidRecord("The length of a record is wrong.")
        add_offset(offset)
        add_bound(end)
    return found


def read_timestamp_delta(payload: bytes, position: int) -> tuple[int, int]:
    """Of the record at `position`, and the position after it."""
    while payload[position] > 0x7F:
        position += 1
    position += 2
    raw = payload[position]
    if raw <= 0x7F:
        return (raw >> 1) ^ -(raw & 1), position + 1
    return read_varlong(payload, position)


def with_timestamp_delta(record_rest: bytes, delta: int) -> bytes:
    """A record with another timestamp; `record_rest` is what follows the timestamp."""
    encoded = varlong(delta)
    return b"%b\0%b%b" % (varlong(1 + len(encoded) + len(record_rest)), encoded, record_rest)
