"""python -m tests.crash.cluster [--faults N] [--seed SEED] [--each N] [--broken FAULT] [--objects]
    [--clients]

Faults of three brokers over one PostgreSQL, and what clients see of them; see
docs/internals/testing.md.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.crash.cluster.broken import FAULTS
from tests.crash.cluster.run import Torture
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted


def main() -> int:
    parser = Arguments(prog="python -m tests.crash.cluster")
    add = parser.add_argument
    add("--faults", type=at_least_one, default=20, metavar="N", help="how many in all")
    add("--seed", type=int, metavar="SEED", help="of the first cluster; else any")
    add("--each", type=at_least_one, default=40, metavar="N", help="so many of one cluster")
    add("--broken", choices=FAULTS, help="patch this fault into the brokers")
    add("--objects", action="store_true", help="old records are in a bucket, which fails, too")
    add("--clients", action="store_true", help="producers of Java and KafkaJS, too")
    options = parser.parse_args()
    seed = random.randrange(1 << 24) if options.seed is None else options.seed
    left, broken = options.faults, []
    try:
        while left > 0:
            folder = Path(tempfile.mkdtemp(prefix="ottla-torture-"))
            faults = min(left, options.each)
            report = Torture(
                None, folder, seed, say, options.broken, options.objects, options.clients
            ).run(faults)
            for line in report.lines:
                say(line)
            for line in report.findings[:20]:
                say(f"  FOUND {line[:600]}")
            for line in report.idle:
                say(f"  NO {line}")
            if report.outdated:
                what = "THE FAULT IS OUTDATED" if options.broken else "AN ERROR IN THE CODE"
                say(f"  {what}: {report.outdated[0][:600]}")
            if not report.is_good:
                broken.append(seed)
                say(f"  its logs are in {folder}")
            left -= max(report.faults, 1)
            seed += 1
    except KeyboardInterrupt:
        return INTERRUPTED
    say(f"seeds with findings: {broken}" if broken else "nothing found")
    return 1 if broken else 0


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    stop_as_if_interrupted()
    sys.exit(main())
