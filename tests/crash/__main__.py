"""scripts/crash [--lives N] [--from K] [--seed SEED [--repeat N]] [--flush POLICY]
[--engine ENGINE]
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from tests.crash.broker import Nursery
from tests.crash.database import Database
from tests.crash.lives import DEATHS, LifeFailed, random_life
from tests.crash.points import ENGINES, FLUSHES
from tests.fakes.postgres import Postgres
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted

POSTGRESQL = "postgresql"


def main() -> int:
    options = _options()
    if options.seed is not None:
        lives = Lives(options.flush, options.engine, prints=True)
        return lives.run([options.seed] * (options.repeat or 1))
    first = random.randrange(1 << 24) if options.first is None else options.first
    lives = Lives(options.flush, options.engine, prints=False)
    return lives.run(range(first, first + options.lives))


def _options() -> argparse.Namespace:
    parser = Arguments(prog="scripts/crash")
    add = parser.add_argument
    lives = f"how many, of {DEATHS} deaths and one in order each"
    add("--lives", type=at_least_one, default=20, metavar="N", help=lives)
    add("--from", dest="first", type=int, metavar="K", help="the first one's seed; else any")
    add("--seed", type=int, metavar="SEED", help="one life, with its events")
    add("--repeat", type=at_least_one, metavar="N", help="how often")
    add("--flush", choices=FLUSHES, help="else each life draws one")
    add("--engine", choices=(*ENGINES, POSTGRESQL), default=ENGINES[0], help="of the store")
    options = parser.parse_args()
    if options.repeat is not None and options.seed is None:
        parser.error("--repeat needs --seed: it repeats one life")
    if options.engine == POSTGRESQL and options.flush == "interval":
        parser.error("PostgreSQL has no flush=interval")
    return options


class Lives:
    """Runs seeds one after the other until one fails; its folder is preserved."""

    def __init__(self, flush: str | None, engine: str, prints: bool) -> None:
        self._flush, self._engine, self._prints = flush, engine, prints
        self._lives = self._deaths = 0
        self._folder: Path | None = None
        self._server: Postgres | None = None

    def run(self, seeds: range | list[int]) -> int:
        if self._engine != POSTGRESQL:
            return self.live(seeds)
        self._server = Postgres()
        try:
            self._server.start()
            return self.live(seeds)
        finally:
            self._server.remove()

    def live(self, seeds: range | list[int]) -> int:
        started, failed = time.monotonic(), 0
        try:
            stop_as_if_interrupted()
            with Nursery() as nursery:
                for seed in seeds:
                    failed += self._fails(nursery, seed)
                    if failed:
                        break
        except KeyboardInterrupt:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            print(f"interrupted after {self._lives} lives, {self._deaths} deaths, {failed} failed")
            return INTERRUPTED
        rate = self._deaths / (time.monotonic() - started) * 60
        print(f"{self._lives} lives, {self._deaths} deaths, {failed} failed, {rate:.0f} a minute")
        return 1 if failed else 0

    def _fails(self, nursery: Nursery, seed: int) -> bool:
        folder = self._folder = Path(tempfile.mkdtemp(prefix=f"ottla-crash-{seed}-"))
        try:
            plan = {"prints": self._prints, "engine": self._engine}
            with nullcontext() if self._server is None else Database(self._server) as database:
                life = random_life(nursery, folder, seed, self._flush, database=database, **plan)
        except LifeFailed as failure:
            self._folder = None
            self._lives += 1
            self._deaths += failure.life.deaths
            print(failure, flush=True)
            return True
        shutil.rmtree(folder)
        self._lives += 1
        self._deaths += life.deaths
        print(f"seed {seed}, flush={life.flush}: passed, {life.deaths} deaths", flush=True)
        return False


if __name__ == "__main__":
    sys.exit(main())
