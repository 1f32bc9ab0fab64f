"""A broker dies at each named point: all points are passed, and nothing is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.broker import Nursery
from tests.crash.deaths import at, killed_after
from tests.crash.life import Life
from tests.crash.lives import live
from tests.crash.points import ENGINES, FILES_POINTS, FLUSHES, POINTS, Point, When, points_of

IN_A_NEW_FOLDER = [point for point in POINTS if point.when is When.FIRST_START]


def dealt(flush: str, points: tuple[Point, ...]) -> list[Point]:
    """Each point with one flush policy; `--long` runs all combinations."""
    return [
        point
        for number, point in enumerate(points)
        if point.when is not When.FIRST_START
        and point.flushes[number % len(point.flushes)] == flush
    ]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("flush", FLUSHES)
def test_nothing_is_lost_at_any_point(flush: str, nursery: Nursery, tmp_path: Path) -> None:
    life, points = Life(nursery, tmp_path, 1, flush), dealt(flush, POINTS)
    random.Random(flush).shuffle(points)
    live(life, [at(point, life.chance) for point in points])
    assert life.batches > 0


@pytest.mark.timeout(240)
@pytest.mark.parametrize("flush", FLUSHES)
def test_nothing_is_lost_within_the_engine_of_files(
    flush: str, nursery: Nursery, tmp_path: Path
) -> None:
    life = Life(nursery, tmp_path, 1, flush, engine="files")
    points = dealt(flush, FILES_POINTS)
    random.Random(flush).shuffle(points)
    # Some points are of a start that finds logs.
    live(life, [killed_after(50, life.chance), *(at(point, life.chance) for point in points)])
    assert life.batches > 0


@pytest.mark.parametrize("point", IN_A_NEW_FOLDER, ids=lambda point: point.name)
def test_an_unfinished_store_is_created_again(
    point: Point, nursery: Nursery, tmp_path: Path
) -> None:
    life = Life(nursery, tmp_path, 1, "commit")
    live(life, [at(point, life.chance), killed_after(50, life.chance)])


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("flush", FLUSHES)
def test_nothing_is_lost_at_any_point_with_any_flush_policy(
    flush: str, engine: str, nursery: Nursery, tmp_path: Path
) -> None:
    for seed in range(5):
        life = Life(nursery, tmp_path / str(seed), seed, flush, engine=engine)
        points = [point for point in points_of(flush, engine) if point.when is not When.FIRST_START]
        life.chance.shuffle(points)
        first = [killed_after(50, life.chance)]
        live(life, [*first, *(at(point, life.chance) for point in points)])
