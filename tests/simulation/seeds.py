"""Running seeds, for the suite and for `scripts/simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from tests.simulation.cluster_transactions import ClusterTransactions
from tests.simulation.several_brokers import SeveralBrokers
from tests.simulation.situations import Situation
from tests.simulation.two_brokers import TwoBrokers
from tests.simulation.two_coordinators import TwoCoordinators
from tests.simulation.world import World

TAIL = 40


class AnyWorld(Protocol):
    seed: int
    log_lines: list[str]

    @property
    def happened(self) -> Counter[str]: ...

    def run(self) -> None: ...


class OneBroker(World):
    @property
    def happened(self) -> Counter[str]:
        return Counter({one.value: self.situations.get(one, 0) for one in Situation})

    def run(self) -> None:
        try:
            super().run()
        finally:
            if self.files is not None:
                self.files.remove()


ONE_BROKER = "one_broker"
#: As `scripts/simulate --world` has them, the files of this folder.
WORLDS: dict[str, Callable[[int], AnyWorld]] = {
    ONE_BROKER: OneBroker,
    "two_brokers": TwoBrokers,
    "two_coordinators": TwoCoordinators,
    "several_brokers": SeveralBrokers,
    "cluster_transactions": ClusterTransactions,
}


class SeedFailed(AssertionError):
    """A world failed; the message ends with its last events."""

    def __init__(self, world: AnyWorld, failure: Exception, name: str = ONE_BROKER) -> None:
        self.seed = world.seed
        self.failure = failure
        events = "\n".join(world.log_lines[-TAIL:])
        option = "" if name == ONE_BROKER else f" --world {name}"
        super().__init__(
            f"seed {world.seed}: {type(failure).__name__}: {failure}\n{events}\n"
            f"all events: scripts/simulate{option} --seed {world.seed}"
        )


def run_world(name: str, seed: int) -> AnyWorld:
    world = WORLDS[name](seed)
    try:
        world.run()
    except Exception as failure:
        raise SeedFailed(world, failure, name) from failure
    return world


def run_worlds(name: str, seeds: Iterable[int]) -> Counter[str]:
    """What happened in them."""
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened.update(run_world(name, seed).happened)
    return happened


def run_seed(seed: int) -> World:
    world = run_world(ONE_BROKER, seed)
    assert isinstance(world, World)
    return world


def run_seeds(seeds: Iterable[int]) -> None:
    run_worlds(ONE_BROKER, seeds)


def first_failure(seeds: Iterable[int]) -> SeedFailed | None:
    try:
        run_seeds(seeds)
    except SeedFailed as failed:
        return failed
    return None
