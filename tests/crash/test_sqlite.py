"""Committed offsets in SQLite, records in LMDB: neither store may be ahead of acknowledgements."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.deaths import Death, at, killed_after
from tests.crash.life import Life
from tests.crash.lives import live
from tests.crash.points import BY_NAME, FLUSHES, SQLITE_POINTS

#: Points of the other store, while offsets are being written to this one.
OTHERS = ("batch: before the commit", "deletion: committed, no response sent", "stop: drained")


def deaths_of(life: Life) -> list[Death]:
    points = [*SQLITE_POINTS, *(BY_NAME[name] for name in OTHERS)]
    deaths = [at(point, life.chance) for point in points]
    deaths += [killed_after(life.chance.randrange(300), life.chance) for _ in range(3)]
    random.Random(life.seed).shuffle(deaths)
    return deaths


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "flush", [FLUSHES[0], *(pytest.param(one, marks=pytest.mark.long) for one in FLUSHES[1:])]
)
def test_acknowledged_offsets_survive(flush: str, nursery: Nursery, tmp_path: Path) -> None:
    life = Life(nursery, tmp_path, 1, flush, offsets="sqlite://")
    live(life, deaths_of(life))
    assert any(one.acknowledged for one in life.offsets.by_topic.values())
