"""scripts/bench [--quick] [--json FILE] [--kafka FOLDER_OF_JARS] [PART...]

Prints Markdown tables and writes the same figures as JSON. They are for reading and for ratios
within one run: no test fails because of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.bench import brokers, chain, micro, produce, startup

CACHE = Path(".cache/bench")
PARTS = ["produce", "startup", "micro"]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="short runs, one round")
    parser.add_argument("--json", type=Path, default=CACHE / "latest.json")
    parser.add_argument("--kafka", type=Path, metavar="FOLDER", help="compare with these jars")
    options = parser.parse_args()
    if not set(options.parts) <= set(PARTS):
        parser.error(f"there are only the parts {', '.join(PARTS)}")
    parts = options.parts or PARTS

    CACHE.mkdir(parents=True, exist_ok=True)
    contenders = [
        brokers.ottla("memory", "os"),
        brokers.ottla("lmdb", "os"),
        brokers.ottla("lmdb", "commit"),
    ]
    if options.kafka:
        contenders += [brokers.kafka(options.kafka, flush) for flush in ("os", "commit")]

    report: dict[str, object] = {"machine": brokers.machine(), "revision": _revision()}
    if "produce" in parts:
        _produce(report, contenders, options.quick)
    if "startup" in parts:
        started = startup.measure(contenders, CACHE, 3 if options.quick else 11)
        report["startup"] = started
        print("\n### Start and idle memory\n\n" + startup.table(started))
    if "micro" in parts:
        pieces = micro.measure(options.quick) | chain.measure(CACHE, options.quick)
        report["micro"] = pieces
        print("\n### Pieces\n\n" + micro.table(pieces))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"\nbench: {options.json}", file=sys.stderr)


def _produce(report: dict[str, object], contenders: list[brokers.Contender], quick: bool) -> None:
    rawbench = produce.build(CACHE)
    if isinstance(rawbench, str):
        report["produce"] = {"skipped": rawbench}
        print(f"### Produce\n\nskipped: {rawbench}")
        return
    seconds, rounds = (1.5, 1) if quick else (5, 3)
    results = produce.measure(rawbench, contenders, CACHE, seconds, rounds)
    report["produce"] = results
    print("### Produce, acks=all\n\n" + produce.table(results))


def _revision() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
