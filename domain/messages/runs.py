"""Runs: consecutive records of a batch with the same layout, checked a column at a time.

Keys and values of one length are common (numbers, UUIDs, counters), and then so are lengths. A
slice with a stride is one byte of every record, and `bytes` compares it at the speed of C. What
does not fit in a run is left to the loops of each reader, which are as strict.
"""

from __future__ import annotations

from itertools import chain
from struct import iter_unpack
from typing import NamedTuple, Protocol

from domain.errors import InvalidRecord

#: Fewer records cost more here than one by one.
SHORTEST_RUN = 16
#: Of the first look, and later four times the last run: a look that ends early costs little more
#: than what it found.
FIRST_LIMIT = 256
MIN_RECORD_BYTES = 7
#: A length of -1.
_NULL = 1
#: The groups of an int64.
_LONGEST_VARINT = 10
#: Offset deltas by the low bits of their varints, which have a sign: 64 are in one group, 8192 in
#: two, and of each further 8192 the third group is the same.
_LAST_OF_ONE, _LAST_OF_TWO = 1 << 6, 1 << 13
_LOWEST_GROUP = bytes(0x80 | delta << 1 for delta in range(_LAST_OF_ONE))
_SECOND_GROUP = b"".join(bytes([group]) * _LAST_OF_ONE for group in range(128))
_SECOND_OF_THREE = bytes(byte | 0x80 for byte in _SECOND_GROUP)

#: Tables for `bytes.translate`: 1 is a mismatch.
_CONTINUES = bytes([1]) * 128 + bytes(128)
_ENDS = bytes(128) + bytes([1]) * 128
_IS_EVEN = bytes([0, 1]) * 128


class Run(NamedTuple):
    start: int
    records: int
    #: Of a record, with its length.
    size_bytes: int
    #: The keys, or the values: from the start of a record.
    part_start: int
    part_bytes: int

    @property
    def end(self) -> int:
        return self.start + self.records * self.size_bytes

    def parts(self, payload: bytes) -> chain[bytes]:
        rest = self.size_bytes - self.part_start - self.part_bytes
        content = memoryview(payload)[self.start : self.end]
        layout = f"{self.part_start}x{self.part_bytes}s{rest}x"
        return chain.from_iterable(iter_unpack(layout, content))


class Reader(Protocol):
    #: Runs have the keys of records, which need one; otherwise the values.
    keyed: bool

    def run(self, payload: bytes, run: Run, first_delta: int) -> None: ...

    def one_by_one(
        self, payload: bytes, start: int, indexes: range, delta_before: int
    ) -> tuple[int, int]:
        """Returns where they end, and the last offset delta; `delta_before` is that before them.

        Raises InvalidRecord or IndexError.
        """


def read_in_runs(payload: bytes, last_offset_delta: int, count: int, reader: Reader) -> int:
    """Reads the records of an uncompressed batch; returns the last offset delta.

    Raises InvalidRecord if the bytes are not `count` records with ascending offsets of the batch.
    """
    if count * MIN_RECORD_BYTES > len(payload):
        raise InvalidRecord(f"{count} records do not fit in {len(payload)} bytes.")
    index = end = 0
    delta = -1
    patience, limit = SHORTEST_RUN, FIRST_LIMIT
    try:
        while index < count:
            run = find_run(payload, end, min(limit, count - index), delta + 1, reader.keyed)
            if run is None:
                # Records of many lengths have no runs: look for the next one ever later.
                indexes = range(index, min(index + patience, count))
                end, delta = reader.one_by_one(payload, end, indexes, delta)
                index, patience, limit = indexes.stop, patience << 1, FIRST_LIMIT
            else:
                reader.run(payload, run, delta + 1)
                index, end, delta = index + run.records, run.end, delta + run.records
                patience, limit = SHORTEST_RUN, run.records << 2
    except IndexError:
        raise InvalidRecord("A record ends within a varint.") from None
    if end != len(payload) or delta > last_offset_delta:
        raise InvalidRecord("The records end elsewhere than their batch.")
    return delta


def find_run(
    payload: bytes, start: int, limit: int, first_delta: int, keyed: bool = True
) -> Run | None:
    """Of up to `limit` records with a value, and with consecutive offsets; see `Reader.keyed`.

    Raises IndexError if the first record ends within a number.
    """
    length, content = _number(payload, start)
    size_bytes = content - start + (length >> 1)
    limit = min(limit, (len(payload) - start) // max(size_bytes, 1))
    second = start + size_bytes
    if length & 1 or limit < SHORTEST_RUN:
        return None
    if payload[start:content] != payload[second : second + content - start]:
        return None
    time = content + 1
    delta = _end(payload, time)
    if delta - time > _LONGEST_VARINT:
        return None
    key_length = _end(payload, delta)
    key_bytes, key = _number(payload, key_length)
    value = key + max(key_bytes >> 1, 0)
    if (key_bytes & 1 and (keyed or key_bytes != _NULL)) or value >= second:
        return None
    value_bytes, content_start = _number(payload, value)
    if not keyed and (value_bytes & 1 or content_start + (value_bytes >> 1) >= second):
        return None
    columns = _Columns(payload, start, size_bytes, limit)
    columns.repeat(start, content)
    columns.repeat(key_length, key)
    columns.continue_until(time, delta - 1)
    columns.ascend(delta, key_length, first_delta)
    if columns.count < SHORTEST_RUN:
        return None  # with no records alike, the columns below are no columns
    if keyed:
        columns.check(value, _IS_EVEN)
    else:
        columns.repeat(value, content_start)
    if columns.count < SHORTEST_RUN:
        return None
    part, part_bytes = (key, key_bytes) if keyed else (content_start, value_bytes)
    return Run(start, columns.count, size_bytes, part - start, part_bytes >> 1)


class _Columns:
    def __init__(self, payload: bytes, start: int, size_bytes: int, count: int) -> None:
        #: Records that are alike so far.
        self.count = count
        self._payload = payload
        self._size_bytes = size_bytes

    def _column(self, position: int) -> bytes:
        size_bytes = self._size_bytes
        return self._payload[position : position + (self.count - 1) * size_bytes + 1 : size_bytes]

    def repeat(self, position: int, end: int) -> None:
        """All records have the bytes of the first one."""
        for at in range(position, end):
            column = self._column(at)
            self.count -= len(column.lstrip(column[:1]))

    def check(self, position: int, mismatches: bytes) -> None:
        first = self._column(position).translate(mismatches).find(1)
        if first >= 0:
            self.count = first

    def continue_until(self, position: int, last: int) -> None:
        """A varint whose last byte is there."""
        for at in range(position, last):
            self.check(at, _CONTINUES)
        self.check(last, _ENDS)

    def ascend(self, position: int, end: int, delta: int) -> None:
        """Offset deltas, each one more than the one before."""
        groups = _groups(delta, self.count)
        if len(groups) != end - position:
            self.count = 0
        for at, expected in enumerate(groups, position):
            self.count = min(self.count, len(expected))
            column, expected = self._column(at), expected[: self.count]
            if column != expected:
                wrong = int.from_bytes(column) ^ int.from_bytes(expected)
                self.count -= (wrong.bit_length() + 7) // 8


def _groups(delta: int, count: int) -> list[bytes]:
    """Their varints as columns, of as many as have the same number of groups."""
    if delta < _LAST_OF_ONE:
        return [bytes(range(delta << 1, min(delta + count, _LAST_OF_ONE) << 1, 2))]
    at = delta % _LAST_OF_ONE
    lowest = (_LOWEST_GROUP * ((at + count) // _LAST_OF_ONE + 1))[at : at + count]
    at = delta % _LAST_OF_TWO
    if delta < _LAST_OF_TWO:
        return [lowest, _SECOND_GROUP[at : at + count]]
    second = _SECOND_OF_THREE[at : at + count]
    third = delta // _LAST_OF_TWO
    return [lowest, second, bytes([third]) * count] if third < 128 else []


def _end(payload: bytes, position: int) -> int:
    """Behind the varint at `position`."""
    while payload[position] > 0x7F:
        position += 1
    return position + 1


def _number(payload: bytes, position: int) -> tuple[int, int]:
    """With its sign in the lowest bit, and the position behind it; of one to three groups.

    -1, as if it was negative, for a longer one.
    """
    number = payload[position]
    if number > 0x7F:
        number += (payload[position + 1] << 7) - 0x80
        if payload[position + 1] > 0x7F:
            number += (payload[position + 2] << 14) - (0x80 << 7)
            if payload[position + 2] > 0x7F:
                return -1, position + 3
            return number, position + 3
        return number, position + 2
    return number, position + 1
