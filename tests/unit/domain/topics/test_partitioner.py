from __future__ import annotations

import random

import pytest
from aiokafka.partitioner import murmur2 as murmur2_of_aiokafka

from domain.topics.partitioner import murmur2, partition_for_key


@pytest.mark.parametrize(
    "key, hashed",
    [
        # From Apache Kafka's own UtilsTest.
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_java_clients(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed & 0xFFFFFFFF


def test_the_hash_equals_that_of_aiokafka() -> None:
    rng = random.Random(7)
    for _ in range(500):
        key = rng.randbytes(rng.randint(0, 40))
        assert murmur2(key) == murmur2_of_aiokafka(key) & 0xFFFFFFFF, key


def test_a_key_has_one_partition() -> None:
    assert partition_for_key(b"foobar", 12) == (-790332482 & 0x7FFFFFFF) % 12
    assert partition_for_key(b"", 1) == 0
