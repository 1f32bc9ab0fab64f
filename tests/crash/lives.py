"""Runs lives by seed, for the suite and for `scripts/crash`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.crash.broker import Nursery
from tests.crash.database import Database
from tests.crash.deaths import Death, random_death
from tests.crash.life import Life

#: Deaths of the broker in one life.
DEATHS = 20


class LifeFailed(AssertionError):
    """A life failed; the message has its events."""

    def __init__(self, life: Life, failure: BaseException) -> None:
        self.life, self.failure = life, failure
        events = "\n".join(life.log_lines)
        super().__init__(
            f"seed {life.seed}, flush={life.flush}: {type(failure).__name__}: {failure}\n{events}\n"
            f"the folder: {life.broker.folder}; the end of the log:\n{life.broker.log()}\n"
            f"again: scripts/crash --seed {life.seed} --flush {life.flush} "
            f"--engine {life.broker.engine}"
        )


def live(life: Life, deaths: Sequence[Death]) -> Life:
    try:
        life.run(deaths)
        life.end()
    except Exception as failure:
        failed = LifeFailed(life, failure)
        life.broker.kill()
        raise failed from failure
    # Interrupted: the nursery ends and kills the broker.
    life.broker.kill()
    return life


def random_life(
    nursery: Nursery,
    folder: Path,
    seed: int,
    flush: str | None = None,
    deaths: int = DEATHS,
    prints: bool = False,
    engine: str = "lmdb",
    database: Database | None = None,
) -> Life:
    life = Life(nursery, folder, seed, flush, engine=engine, database=database)
    life.prints = prints
    drawn = [random_death(life.flush, life.chance, life.broker.engine) for _ in range(deaths)]
    return live(life, drawn)
