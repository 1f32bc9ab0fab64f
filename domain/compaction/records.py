"""Records of a batch as compaction sees them: key, offset, whether there is a value.

A log has millions of records, so one loop reads only the start of each and makes no objects of
them: parallel lists, which the offset map and the filter handle as a whole.

    length  attributes:1  timestamp_delta  offset_delta  key  value  n (name value)*n
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2s
from typing import NamedTuple

from domain.errors import InvalidRecord
from domain.messages.runs import Run, read_in_runs
from domain.messages.varint import read_varint, read_varlong, varlong, zigzag

#: Longer keys are compared by a digest, which is longer than any key that is not. A `bytes` of
#: either length takes 64 bytes of memory.
LONGEST_KEY = 30
DIGEST_BYTES = 31

_WRONG_NUMBERS = "A negative length, or offsets that do not ascend."
_WRONG_LENGTH = "The length of a record is wrong."


class Records(NamedTuple):
    #: Keys as the offset map has them; None for records without a key.
    keys: list[bytes | None]
    offsets: Sequence[int]
    #: Positions of records without a value.
    tombstones: list[int]


def read_records(payload: bytes, base_offset: int, last_offset_delta: int, count: int) -> Records:
    """The records of an uncompressed batch, from the bytes after its header.

    Raises InvalidRecord if the bytes are not `count` records with ascending offsets of the batch.
    """
    reader = _RecordReader()
    last_delta = read_in_runs(payload, last_offset_delta, count, reader)
    offsets: Sequence[int] = range(base_offset, base_offset + count)
    if last_delta >= count:  # there are gaps
        offsets = [base_offset + delta for delta in reader.deltas]
    return Records(reader.keys, offsets, reader.tombstones)


def record_bounds(payload: bytes, count: int) -> list[int]:
    """Where records begin that `read_records` has read, with their length; and the end of all."""
    bounds = [0]
    end = 0
    for _ in range(count):
        length = payload[end]
        if length <= 0x7F:
            end += 1 + (length >> 1)
        elif payload[end + 1] <= 0x7F:
            end += 2 + ((length + (payload[end + 1] << 7) - 0x80) >> 1)
        else:
            length, end = read_varint(payload, end)
            end += length
        bounds.append(end)
    return bounds


def find_keyless(payload: bytes, last_offset_delta: int, count: int) -> list[int]:
    """Positions of the records without a key, after the checks of `read_records`.

    In two thirds of the time, because all clients wait for it.
    """
    finder = _KeylessFinder()
    read_in_runs(payload, last_offset_delta, count, finder)
    return finder.keyless


# Both loops read numbers of one or two groups themselves: a call costs as much as the rest of the
# record. Without its sign, which is the lowest bit, a number is twice as large.


class _RecordReader:
    keyed = True

    def __init__(self) -> None:
        self.keys: list[bytes | None] = []
        self.deltas: list[int] = []
        self.tombstones: list[int] = []

    def run(self, payload: bytes, run: Run, first_delta: int) -> None:
        keys = run.parts(payload)
        self.keys.extend(keys if run.part_bytes <= LONGEST_KEY else map(_digest, keys))
        self.deltas.extend(range(first_delta, first_delta + run.records))

    def one_by_one(
        self, payload: bytes, start: int, indexes: range, delta_before: int
    ) -> tuple[int, int]:
        add_key, add_delta = self.keys.append, self.deltas.append
        longest_key = LONGEST_KEY << 1
        end = start
        delta_before <<= 1
        for index in indexes:
            length = payload[end]
            position = end + 2  # behind the attributes
            if length > 0x7F:
                more = payload[end + 1]
                position = end + 3
                if more > 0x7F:
                    length, position = _long_number(payload, end)
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
                    delta, position = _long_number(payload, position + 1)
                else:
                    delta += (more << 7) - 0x80
                    position += 3
            else:
                position += 2
            if delta <= delta_before or (length | delta) & 1:
                raise InvalidRecord(_WRONG_NUMBERS)
            delta_before = delta
            key_length = payload[position]
            position += 1
            if key_length > 0x7F:
                key_length, position = _long_number(payload, position - 1)
            if key_length & 1:
                add_key(None)
            else:
                key_start = position
                position += key_length >> 1
                key = payload[key_start:position]
                add_key(_digest(key) if key_length > longest_key else key)
            if payload[position] & 1:
                self.tombstones.append(index)
            if position >= end:
                raise InvalidRecord(_WRONG_LENGTH)
            add_delta(delta >> 1)
        return end, delta_before >> 1


def _digest(key: bytes) -> bytes:
    return blake2s(key, digest_size=DIGEST_BYTES).digest()


class _KeylessFinder:
    keyed = True

    def __init__(self) -> None:
        self.keyless: list[int] = []

    def run(self, payload: bytes, run: Run, first_delta: int) -> None:
        pass

    def one_by_one(
        self, payload: bytes, start: int, indexes: range, delta_before: int
    ) -> tuple[int, int]:
        end = start
        delta_before <<= 1
        for index in indexes:
            length = payload[end]
            position = end + 2
            if length > 0x7F:
                more = payload[end + 1]
                position = end + 3
                if more > 0x7F:
                    length, position = _long_number(payload, end)
                    position += 1
                else:
                    length += (more << 7) - 0x80
            end = position - 1 + (length >> 1)
            while payload[position] > 0x7F:
                position += 1
            delta = payload[position + 1]
            if delta > 0x7F:
                more = payload[position + 2]
                if more > 0x7F:
                    delta, position = _long_number(payload, position + 1)
                else:
                    delta += (more << 7) - 0x80
                    position += 3
            else:
                position += 2
            if delta <= delta_before or (length | delta) & 1:
                raise InvalidRecord(_WRONG_NUMBERS)
            delta_before = delta
            key_length = payload[position]
            if key_length > 0x7F:
                key_length, position = _long_number(payload, position)
                position -= 1
            if key_length & 1:
                self.keyless.append(index)
                key_length = 0
            if position + 1 + (key_length >> 1) >= end:
                raise InvalidRecord(_WRONG_LENGTH)
        return end, delta_before >> 1


def _long_number(payload: bytes, position: int) -> tuple[int, int]:
    number, position = read_varint(payload, position)
    return zigzag(number), position


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
