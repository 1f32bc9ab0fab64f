"""Which partition a key belongs to: as Java clients have it, so that all producers agree.

The hash is murmur2 in its 32-bit form, with the seed that Kafka's clients use.
"""

from __future__ import annotations

from collections.abc import Generator
from struct import unpack_from

_SEED = 0x9747B28C
_M = 0x5BD1E995
_R = 24
_U32 = 0xFFFFFFFF

#: Of a long key, hashed in about half a millisecond.
SLICE_BYTES = 16 * 1024


def partition_for_key(key: bytes, partition_count: int) -> int:
    return partition_for_hash(murmur2(key), partition_count)


def partition_for_hash(key_hash: int, partition_count: int) -> int:
    return (key_hash & 0x7FFFFFFF) % partition_count


def murmur2(data: bytes) -> int:
    slices = murmur2_in_slices(data)
    while True:
        try:
            next(slices)
        except StopIteration as end:
            hashed: int = end.value
            return hashed


def murmur2_in_slices(data: bytes) -> Generator[None, None, int]:
    """It is a loop of Python's: where a key is long, others may have their turn at each yield."""
    length = len(data)
    h = (_SEED ^ length) & _U32
    end = length // 4 * 4
    for start in range(0, end, SLICE_BYTES):
        if start:
            yield
        for k in unpack_from(f"<{min(end - start, SLICE_BYTES) // 4}I", data, start):
            k = k * _M & _U32
            k = (k ^ k >> _R) * _M & _U32
            h = h * _M & _U32 ^ k
    tail = data[end:]
    if tail:
        h = (h ^ int.from_bytes(tail, "little")) * _M & _U32
    h = (h ^ h >> 13) * _M & _U32
    return h ^ h >> 15
