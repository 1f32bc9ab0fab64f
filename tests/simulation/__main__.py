"""scripts/simulate [--world WORLD] [--seeds N] [--from K] [--seed SEED] [--keep-going]"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter

from tests.simulation.seeds import ONE_BROKER, WORLDS, SeedFailed, run_world
from tests.tool import (
    INTERRUPTED,
    Arguments,
    at_least_one,
    stop_as_if_interrupted,
    until_interrupted,
)


def main() -> int:
    parser = Arguments(prog="scripts/simulate")
    add = parser.add_argument
    add("--world", choices=list(WORLDS), default=ONE_BROKER, help="which brokers")
    add("--seeds", type=at_least_one, default=1000, metavar="N", help="how many")
    add("--from", dest="first", type=int, default=0, metavar="K", help="the first")
    add("--seed", type=int, metavar="SEED", help="one world: all its events")
    add("--keep-going", action="store_true", help="do not stop at a failure")
    options = parser.parse_args()
    if options.seed is not None:
        return _world(options.world, options.seed)
    seeds = range(options.first, options.first + options.seeds)
    return _many(options.world, seeds, options.keep_going)


def _world(name: str, seed: int) -> int:
    world = WORLDS[name](seed)
    failure: Exception | None = None
    try:
        stop_as_if_interrupted()
        world.run()
    except Exception as caught:
        failure = caught
    except KeyboardInterrupt:
        print("\n".join(world.log_lines))
        print(f"interrupted after {len(world.log_lines)} events of seed {seed}")
        return INTERRUPTED
    print("\n".join(world.log_lines))
    if failure is None:
        print(f"seed {seed}: passed after {len(world.log_lines)} events")
        return 0
    traceback.print_exception(failure, file=sys.stdout)
    return 1


def _many(name: str, seeds: range, keep_going: bool) -> int:
    happened: Counter[str] = Counter()
    failed: list[int] = []
    started = time.perf_counter()
    count = 0
    try:
        for seed in until_interrupted(seeds):
            try:
                happened.update(run_world(name, seed).happened)
            except SeedFailed as failure:
                failed.append(seed)
                print(f"seed {seed}: {failure.failure}" if keep_going else failure, flush=True)
            count += 1
            if failed and not keep_going:
                break
    except KeyboardInterrupt:
        print(f"interrupted after {count} seeds, {len(failed)} failed")
        return INTERRUPTED
    seconds = time.perf_counter() - started
    for what, times in happened.items():
        print(f"{times:8}  {what}")
    print(f"{count} seeds, {len(failed)} failed, {count / seconds * 60:.0f} a minute")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
