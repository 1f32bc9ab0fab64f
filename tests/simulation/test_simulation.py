from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.seeds import run_seed, run_seeds
from tests.simulation.stories import Story

SEEDS = 400
CHUNK = 25

#: Each of the stories happens in every thirty seeds or so.
SEEDS_FOR_ALL_STORIES = 200


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_promise_is_kept_whatever_happens(first: int) -> None:
    run_seeds(range(first, first + CHUNK))


def test_every_story_happens() -> None:
    told: Counter[Story] = Counter()
    for seed in range(SEEDS_FOR_ALL_STORIES):
        told.update(run_seed(seed).stories)
        if len(told) == len(Story):
            return
    pytest.fail(f"never happened: {[s.value for s in Story if s not in told]}")


def test_a_seed_gives_the_same_story_again() -> None:
    for seed in (1, 2, 3):
        assert run_seed(seed).lines_told == run_seed(seed).lines_told


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", range(10_000, 20_000, 500))
def test_ten_thousand_more_seeds(first: int) -> None:
    run_seeds(range(first, first + 500))
