"""See the package."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.fuzz.rounds import FRAMES, Failed, play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--replay", type=int, help="one round")
    options = parser.parse_args()
    if options.replay is not None:
        options.first, options.rounds = options.replay, 1
    started = time.monotonic()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.rounds):
            try:
                play(seed, Path(folder))
            except Failed as failure:
                failed += 1
                traceback.print_exception(failure.__cause__)
                print(failure, flush=True)
    seconds = time.monotonic() - started
    frames = options.rounds * FRAMES
    print(f"{frames} frames in {seconds:.1f} s, {frames / seconds:.0f} a second, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
