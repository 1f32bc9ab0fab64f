"""scripts/crash [--lives N] [--from SEED] [--life SEED] [--flush POLICY] [--repeat N]"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.broker import Nursery
from tests.crash.points import FLUSHES
from tests.crash.story import DEATHS, LifeFailed, random_life


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/crash")
    add = parser.add_argument
    add("--lives", type=int, default=20, metavar="N", help=f"how many, of {DEATHS} deaths each")
    add("--from", dest="first", type=int, metavar="SEED", help="the first one's; else any")
    add("--life", type=int, metavar="SEED", help="one life, told as it goes")
    add("--repeat", type=int, default=1, metavar="N", help="that life so often")
    add("--flush", choices=FLUSHES, help="else each life draws one")
    options = parser.parse_args()
    if options.life is not None:
        return _many([options.life] * options.repeat, options.flush, tell=True)
    first = random.randrange(1 << 24) if options.first is None else options.first
    return _many(range(first, first + options.lives), options.flush, tell=False)


def _many(seeds: range | list[int], flush: str | None, tell: bool) -> int:
    started, deaths = time.monotonic(), 0
    with Nursery() as nursery:
        for seed in seeds:
            folder = Path(tempfile.mkdtemp(prefix=f"ottla-crash-{seed}-"))
            try:
                life = random_life(nursery, folder, seed, flush)
            except LifeFailed as failed:
                print(failed, flush=True)
                return 1
            shutil.rmtree(folder)
            deaths += life.deaths
            if tell:
                print("\n".join(life.lines_told))
            rate = deaths / (time.monotonic() - started) * 60
            print(f"seed {seed}, flush={life.flush}: {deaths} deaths, {rate:.0f} a minute")
    return 0


if __name__ == "__main__":
    sys.exit(main())
