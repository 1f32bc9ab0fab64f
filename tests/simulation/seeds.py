"""Running seeds, for the suite and for `scripts/simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.simulation.stories import Story
from tests.simulation.world import World

TAIL = 40


class SeedFailed(AssertionError):
    """One world went wrong; the message ends with its story."""

    def __init__(self, world: World, failure: Exception) -> None:
        self.seed = world.seed
        self.failure = failure
        story = "\n".join(world.lines_told[-TAIL:])
        super().__init__(
            f"seed {world.seed}: {type(failure).__name__}: {failure}\n{story}\n"
            f"all of it: scripts/simulate --seed {world.seed}"
        )


def run_seed(seed: int) -> World:
    world = World(seed)
    try:
        world.run()
    except Exception as failure:
        raise SeedFailed(world, failure) from failure
    return world


def run_seeds(seeds: Iterable[int]) -> Counter[Story]:
    stories: Counter[Story] = Counter()
    for seed in seeds:
        stories.update(run_seed(seed).stories)
    return stories


def first_failure(seeds: Iterable[int]) -> SeedFailed | None:
    try:
        run_seeds(seeds)
    except SeedFailed as failed:
        return failed
    return None
