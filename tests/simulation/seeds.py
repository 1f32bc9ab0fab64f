"""Running seeds, for the suite and for `scripts/simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.simulation.situations import Situation
from tests.simulation.world import World

TAIL = 40


class SeedFailed(AssertionError):
    """A world failed; the message ends with its last events."""

    def __init__(self, world: World, failure: Exception) -> None:
        self.seed = world.seed
        self.failure = failure
        events = "\n".join(world.log_lines[-TAIL:])
        super().__init__(
            f"seed {world.seed}: {type(failure).__name__}: {failure}\n{events}\n"
            f"all events: scripts/simulate --seed {world.seed}"
        )


def run_seed(seed: int) -> World:
    world = World(seed)
    try:
        world.run()
    except Exception as failure:
        raise SeedFailed(world, failure) from failure
    finally:
        if world.files is not None:
            world.files.remove()
    return world


def run_seeds(seeds: Iterable[int]) -> Counter[Situation]:
    situations: Counter[Situation] = Counter()
    for seed in seeds:
        situations.update(run_seed(seed).situations)
    return situations


def first_failure(seeds: Iterable[int]) -> SeedFailed | None:
    try:
        run_seeds(seeds)
    except SeedFailed as failed:
        return failed
    return None
