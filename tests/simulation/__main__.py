"""scripts/simulate [--seeds N] [--from K] [--story SEED]"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

from tests.simulation.seeds import SeedFailed, run_seed
from tests.simulation.stories import Story
from tests.simulation.world import World


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/simulate")
    parser.add_argument("--seeds", type=int, default=1000, metavar="N", help="how many")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="K", help="the first")
    parser.add_argument("--story", type=int, metavar="SEED", help="tell what happens in one world")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a failure")
    options = parser.parse_args()
    if options.story is not None:
        return _story(options.story)
    return _many(range(options.first, options.first + options.seeds), options.keep_going)


def _story(seed: int) -> int:
    world = World(seed)
    failure: Exception | None = None
    try:
        world.run()
    except Exception as caught:
        failure = caught
    print("\n".join(world.lines_told))
    if failure is None:
        print(f"seed {seed}: all is well after {world.timeline.now} ms")
        return 0
    traceback.print_exception(failure, file=sys.stdout)
    return 1


def _many(seeds: range, keep_going: bool) -> int:
    stories: Counter[Story] = Counter()
    failed: list[int] = []
    started = time.perf_counter()
    count = 0
    for seed in seeds:
        count += 1
        try:
            stories.update(run_seed(seed).stories)
        except SeedFailed as failure:
            failed.append(seed)
            print(f"seed {seed}: {failure.failure}" if keep_going else failure, flush=True)
            if not keep_going:
                break
    seconds = time.perf_counter() - started
    for story in Story:
        print(f"{stories[story]:8}  {story.value}")
    print(f"{count} seeds, {len(failed)} failed, {count / seconds * 60:.0f} a minute")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
