"""scripts/fuzz [--rounds N] [--from K] [--seed SEED]"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.rounds import FRAMES, Failed, run_round
from tests.tool import INTERRUPTED, Arguments, at_least_one, until_interrupted


def main() -> int:
    parser = Arguments(prog="scripts/fuzz")
    add = parser.add_argument
    add("--rounds", type=at_least_one, default=200, metavar="N", help=f"of {FRAMES} frames each")
    add("--from", type=int, default=0, dest="first", metavar="K", help="the first one's seed")
    add("--seed", "--replay", type=int, metavar="SEED", help="one round; what fails is shrunk")
    options = parser.parse_args()
    if options.seed is not None:
        return _many(range(options.seed, options.seed + 1))
    return _many(range(options.first, options.first + options.rounds))


def _many(seeds: range) -> int:
    started = time.monotonic()
    played = failed = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            for seed in until_interrupted(seeds):
                failed += _fails(seed, Path(folder))
                played += 1
    except KeyboardInterrupt:
        print(f"interrupted after {played} rounds, {failed} failed")
        return INTERRUPTED
    seconds = time.monotonic() - started
    frames = played * FRAMES
    print(f"{frames} frames in {seconds:.1f} s, {frames / seconds:.0f} a second, {failed} failed")
    return 1 if failed else 0


def _fails(seed: int, folder: Path) -> bool:
    try:
        run_round(seed, folder)
    except Failed as failure:
        traceback.print_exception(failure.__cause__)
        print(failure, flush=True)
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
