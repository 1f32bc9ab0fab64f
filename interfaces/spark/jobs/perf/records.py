"""The bytes of a record: run, producer, number, time of sending, checksum, body.

The checksum is over the body and then the head: that of each body is computed once.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any

from crc32c import crc32c

_HEAD = struct.Struct("<IIQQ")
_CRC = struct.Struct("<I")
#: A producer takes bodies by turns: at most so many, and of so many bytes together.
_BODIES, _BODIES_BYTES = 64, 16 * 1024 * 1024
#: The number of the last record that a producer sends to each partition.
LAST = 2**64 - 1
LEAST_BYTES = _HEAD.size + _CRC.size


class RecordMaker:
    """Of one producer: bodies are random, and the same for the same run and producer."""

    def __init__(self, run: int, producer: int, size: int) -> None:
        self._run = run
        self._producer = producer
        generator = random.Random(run * 1_000_003 + producer)
        count = max(1, min(_BODIES, _BODIES_BYTES // size))
        bodies = [generator.randbytes(size - LEAST_BYTES) for _ in range(count)]
        self._bodies = [(body, crc32c(body)) for body in bodies]

    def make(self, number: int, sent_ns: int) -> bytes:
        head = _HEAD.pack(self._run, self._producer, number, sent_ns)
        body, checksum = self._bodies[number % len(self._bodies)]
        return head + _CRC.pack(crc32c(head, checksum)) + body


def number_and_time(value: bytes) -> tuple[int, int]:
    """The time of sending, in ns."""
    _, _, number, sent_ns = _HEAD.unpack_from(value)
    return number, sent_ns


def is_whole(value: bytes) -> bool:
    size = LEAST_BYTES
    if len(value) < size:
        return False
    head = value[: _HEAD.size]
    return bool(crc32c(head, crc32c(value[size:])) == _CRC.unpack_from(value, _HEAD.size)[0])


def heads(values: Sequence[bytes]) -> Any:
    """Run, producer, number and time of whole records, as columns."""
    import numpy

    kind = [("run", "<u4"), ("producer", "<u4"), ("number", "<u8"), ("sent_ns", "<u8")]
    return numpy.frombuffer(b"".join([value[: _HEAD.size] for value in values]), dtype=kind)
