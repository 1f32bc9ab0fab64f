"""More seeds of several brokers."""

from __future__ import annotations

import pytest

from tests.simulation.seeds import run_worlds

FIRST = 10_000
#: How many seeds a world has, and how many of them are one test.
SEEDS = {
    "two_brokers": (800, 200),
    "two_coordinators": (300, 100),
    "several_brokers": (1200, 300),
    "cluster_transactions": (200, 50),
}
CHUNKS = [
    (world, first, size)
    for world, (count, size) in SEEDS.items()
    for first in range(FIRST, FIRST + count, size)
]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("world, first, size", CHUNKS)
def test_more_seeds(world: str, first: int, size: int) -> None:
    run_worlds(world, range(first, first + size))
