"""30,000 hostile frames, others each day; millions with --long.

A failure names its seed, which `scripts/fuzz --seed` plays again on any day.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fuzz.rounds import FRAMES, run_round

SUITE_FRAMES = 30_000
LONG_FRAMES = 3_000_000
AT_ONCE = 10
DAY_S = 86_400

ROUNDS = SUITE_FRAMES // FRAMES
LONG_ROUNDS = LONG_FRAMES // FRAMES


def first_seed_of_today() -> int:
    return int(time.time()) // DAY_S * ROUNDS


@pytest.mark.parametrize("first", range(0, ROUNDS, AT_ONCE))
def test_every_frame_gets_a_response_or_closes_only_its_connection(
    first: int, tmp_path: Path
) -> None:
    first += first_seed_of_today()
    for seed in range(first, first + AT_ONCE):
        run_round(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, LONG_ROUNDS, 10 * AT_ONCE))
def test_millions_of_hostile_frames(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10 * AT_ONCE):
        run_round(seed, tmp_path)
