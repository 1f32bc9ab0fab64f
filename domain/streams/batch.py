"""Batches of the values of a stream: records without key and headers, all of one time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

from domain.messages.batch import Checksum
from domain.messages.building import batch_with_header
from domain.messages.varint import varlong

#: More do not arrive in one read.
MAX_RECORDS = 1 << 16
_ATTRIBUTES_AND_TIME, _NO_KEY, _NO_HEADERS = b"\0\0", b"\1", b"\0"
#: Offset deltas whose varints have as many bytes.
_WIDTHS = (0, 1 << 6), (1 << 6, 1 << 13), (1 << 13, MAX_RECORDS)
_DELTAS = tuple(map(varlong, range(1 << 13)))


def batch_of(values: Sequence[bytes | memoryview], timestamp: int, checksum: Checksum) -> bytearray:
    pieces: list[bytes | memoryview] = []
    for first, end in _WIDTHS:
        group = values[first:end]
        deltas = _DELTAS[first:end] or map(varlong, range(first, first + len(group)))
        if len(set(map(len, group))) == 1:
            # No step in Python for each record.
            before, after = _around_delta(first, len(group[0]))
            parts = zip(repeat(before), deltas, repeat(after), group, repeat(_NO_HEADERS))
            pieces.extend(chain.from_iterable(parts))
        else:
            for delta, value in zip(deltas, group, strict=False):
                before, after = _around_delta(first, len(value))
                pieces += (before, delta, after, value, _NO_HEADERS)
    return batch_with_header(b"".join(pieces), len(values), timestamp, timestamp, checksum)


def _around_delta(index: int, value_bytes: int) -> tuple[bytes, bytes]:
    """What a record of this size has before its offset delta, and behind."""
    after = _NO_KEY + varlong(value_bytes)
    fixed_bytes = len(_ATTRIBUTES_AND_TIME) + len(varlong(index)) + len(after) + len(_NO_HEADERS)
    return varlong(fixed_bytes + value_bytes) + _ATTRIBUTES_AND_TIME, after
