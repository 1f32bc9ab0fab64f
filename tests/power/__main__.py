"""scripts/power record FOLDER [--engine ENGINE] [--flush POLICY] [--seed SEED] [--passes N]
scripts/power replay FOLDER [--from K] [--seeds N] [--unsynced]

A replay prints a line of JSON per seed: its moment, its style, the outcome and the reason.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.power.judge import ALLOWED
from tests.power.recording import PASSES, RECORDING, compiler, record_workload, recorded_in
from tests.power.replay import Cut, Replays
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted


def main() -> int:
    options = _options()
    command = _record if options.command == "record" else _replay
    return command(options)


def _options() -> argparse.Namespace:
    parser = Arguments(
        prog="scripts/power", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="runs a workload and keeps what it wrote")
    record.add_argument("folder", type=Path, metavar="FOLDER", help="a new one, or empty")
    record.add_argument("--engine", choices=["lmdb", "files"], default="lmdb")
    record.add_argument("--flush", choices=list(ALLOWED), default="interval")
    record.add_argument("--seed", type=int, default=1, help="of the workload")
    record.add_argument("--passes", type=at_least_one, default=PASSES, metavar="N")
    replay = commands.add_parser("replay", help="cuts the power of a recorded run")
    replay.add_argument("folder", type=Path, metavar="FOLDER", help="where it was recorded")
    replay.add_argument("--from", dest="first", type=int, default=0, metavar="K")
    replay.add_argument("--seeds", type=at_least_one, default=100, metavar="N", help="how many")
    replay.add_argument(
        "--unsynced", action="store_true", help="without the run's syncs: this has to be found out"
    )
    return parser.parse_args()


def _record(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if compiler() is None or sys.platform != "linux":
        return _refused("recording needs Linux and a C compiler (cc or gcc)")
    try:
        stop_as_if_interrupted()
        if folder.exists() and list(folder.iterdir()):
            return _refused(f"{folder} is not empty")
        record_workload(folder, options.engine, options.flush, options.seed, options.passes)
    except OSError as failure:
        return _refused(f"{folder} cannot be used: {failure}")
    except (subprocess.SubprocessError, KeyboardInterrupt) as failure:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(failure, KeyboardInterrupt):
            print("interrupted, nothing is recorded")
            return INTERRUPTED
        return _refused(f"the run failed: {failure}")
    print(
        f"recorded {options.passes} passes, {options.engine}://, flush={options.flush}; "
        f"scripts/power replay {folder}"
    )
    return 0


def _replay(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if not (folder / RECORDING).is_file():
        return _refused(f"{folder} holds no recording; scripts/power record {folder} makes one")
    _, flush = recorded_in(folder)
    cuts: list[Cut] = []
    try:
        stop_as_if_interrupted()
        for cut in Replays(folder, options.unsynced).run(
            range(options.first, options.first + options.seeds)
        ):
            print(cut.line(), flush=True)
            cuts.append(cut)
    except KeyboardInterrupt:
        print(f"interrupted after {summary(cuts, flush)}")
        return INTERRUPTED
    print(summary(cuts, flush))
    return 1 if any(cut.outcome not in ALLOWED[flush] for cut in cuts) else 0


def summary(cuts: list[Cut], flush: str) -> str:
    found = Counter(cut.outcome for cut in cuts)
    not_allowed = sum(found[outcome] for outcome in found if outcome not in ALLOWED[flush])
    refused = f", {found['refused']} refused to open" if found["refused"] else ""
    return (
        f"{len(cuts)} cuts: {found['intact']} intact, {found['tail']} lost the tail{refused},"
        f" {not_allowed} not allowed"
    )


def _refused(why: str) -> int:
    print(f"scripts/power: {why}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
