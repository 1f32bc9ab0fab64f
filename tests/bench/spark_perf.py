"""python -m tests.bench.spark_perf [--sizes 100,1024,10240] [--duration 30s] [--rate N]
    [--rounds N] [--out FOLDER] [--json FILE] [--kafka maven|FOLDER_OF_JARS]

`ottla spark perf` against Ottla, with flush = commit and os, and against Apache Kafka, at each size
of records and by turns, in one Spark that is warm. Prints a table for docs/spark.md; the reports of
the last round against Ottla go to FOLDER/spark-SIZE-FLUSH.html.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from interfaces.main.arguments import parser
from interfaces.spark.interruptible import Interruptible
from interfaces.spark.jobs.perf.job import run as run_perf
from interfaces.spark.jobs.perf.running import master_for
from interfaces.spark.query.failures import cause_of
from interfaces.spark.session import ending, open_session, opened
from tests.bench import machine
from tests.bench.brokers import Broker, BrokerFailed, Contender, kafka, ottla
from tests.bench.jars import MAVEN, NoKafka, jars, version
from tests.bench.progress import say
from tests.bench.stage import Stage
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted

CACHE = Path(".cache/bench/spark-perf")
SIZES, DURATION = "100,1024,10240", "30s"
FLUSHES = ("commit", "os")
KAFKA = "kafka os"
#: Of a new broker, before the measurement: a JVM compiles at first.
WARM_UP = ("--duration", "10s", "--warm-up", "1s", "--size", "1024")
#: Two producers and two consumers.
TASKS = 4


class Run(NamedTuple):
    size: int
    broker: str
    #: None if it failed.
    result: dict[str, Any] | None


def main() -> int:
    arguments = Arguments(prog="python -m tests.bench.spark_perf")
    arguments.add_argument("--sizes", type=_sizes, default=SIZES, help="of records, bytes")
    arguments.add_argument("--duration", default=DURATION, help="of each run")
    arguments.add_argument(
        "--rate", type=float, default=0.0, help="records a second (0: as many as possible)"
    )
    arguments.add_argument("--rounds", type=at_least_one, default=1)
    arguments.add_argument("--out", type=Path, default=CACHE, help="where reports are written")
    arguments.add_argument("--json", type=Path, help="where all results are written")
    arguments.add_argument("--kafka", default=MAVEN, help="its jars: maven, or a folder")
    given = arguments.parse_args()
    parser().parse_args(["spark", "perf", "--duration", given.duration])  # or it ends here
    stop_as_if_interrupted()
    try:
        libs = jars(given.kafka)
        return Interruptible(lambda: _measure(given, libs), opened).run()
    except NoKafka as missing:
        print(f"No Kafka to compare with: {missing}", file=sys.stderr)
        return 1
    except BrokerFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _sizes(text: str) -> list[int]:
    return [at_least_one(each) for each in text.split(",")]


def _measure(given: argparse.Namespace, libs: Path) -> int:
    busy_before = machine.busy()
    called = {KAFKA: f"Apache Kafka {version(libs)}"}
    called |= {f"ottla {flush}": f"Ottla, flush = {flush}" for flush in FLUSHES}
    contenders = [*(ottla(flush) for flush in FLUSHES), kafka(libs, "os")]
    CACHE.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="ottla-bench-", dir=CACHE) as folder:
        place = Path(folder).absolute()
        settings = [
            ("spark.driver.memory", "1g"),
            ("spark.local.dir", str(place / "spark")),
            ("spark.task.maxFailures", "1"),
        ]
        say("Spark starts")
        spark = open_session("bench", master_for("local[*]", TASKS), settings)
        stage = Stage(contenders, place, _warm_up)
        try:
            for number in range(given.rounds):
                for size in given.sizes:
                    stage.make_room()
                    for name in by_turns(stage.names, len(runs)):
                        result = _once(stage, name, called[name], size, given)
                        runs.append(Run(size, name, result))
                say(f"round {number + 1} of {given.rounds} is done")
        finally:
            stage.close()
            spark.stop()
    print("\n".join(table(runs, called)))
    print(f"\nLoad of the machine before and after: {busy_before}, {machine.busy()}")
    if given.json:
        written = {"machine": machine.describe(), "runs": [run._asdict() for run in runs]}
        given.json.write_text(json.dumps(written, indent=2) + "\n", "utf-8")
    return 0 if all(run.result for run in runs) else 1


def by_turns(names: list[str], done: int) -> list[str]:
    """Rotates, so that each is first in its turn."""
    first = done // len(names) % len(names)
    return names[first:] + names[:first]


def _once(
    stage: Stage, name: str, called: str, size: int, given: argparse.Namespace
) -> dict[str, Any] | None:
    broker = stage.broker(name)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        file = Path(folder) / "result.json"
        words = ["--duration", given.duration, "--rate", f"{given.rate:g}", "--size", str(size)]
        words += ["--name", f"{called}, records of {size:,} bytes", "--json", str(file)]
        if name != KAFKA:
            words += ["--report", str(given.out / f"spark-{size}-{name.split()[1]}.html")]
        os.sync()  # so that no broker waits for writes of the one before
        say(f"{size:,} bytes: {called}")
        code = _perf(broker, *words)
        stage.lost(name)
        stage.settle()
        if code or not file.exists():
            return None
        result: dict[str, Any] = json.loads(file.read_text())
        return result


def _perf(broker: Broker, *words: str) -> int:
    """Its output goes to stderr: only the table is on stdout."""
    parsed = parser().parse_args(["spark", "perf", "-b", broker.address, *words])
    try:
        with redirect_stdout(sys.stderr):
            return run_perf(parsed)
    except Exception as failure:
        if ending.is_set():
            raise KeyboardInterrupt from failure
        say(f"FAILED: {cause_of(failure)}")
        return 1


def _warm_up(_contender: Contender, broker: Broker) -> None:
    if _perf(broker, *WARM_UP):
        raise BrokerFailed(f"The warm-up failed:\n{broker.output()}")


def table(runs: list[Run], called: dict[str, str]) -> list[str]:
    """Medians of the rounds; the ratio, to the rate of Kafka, is the median of those of rounds."""
    lines = [
        "| records of | broker | published | | publish p50, p99 | end to end p50, p99 | ratio |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for size in dict.fromkeys(run.size for run in runs):
        rounds = {
            name: [run.result for run in runs if (run.size, run.broker) == (size, name)]
            for name in called
        }
        for name, results in rounds.items():
            if not any(run.broker == name for run in runs):
                continue
            ratios = [
                ours["meanPublishRate"] / theirs["meanPublishRate"]
                for ours, theirs in zip(results, rounds[KAFKA], strict=False)
                if ours and theirs and theirs["meanPublishRate"]
            ]
            cells = [f"{size:,} B", called[name], *_figures([each for each in results if each])]
            lines.append(f"| {' | '.join(cells)} | {'' if name == KAFKA else _ratio(ratios)} |")
    return lines


def _figures(results: list[dict[str, Any]]) -> list[str]:
    if not results:
        return ["failed", "", "", ""]

    def median(name: str) -> float:
        return statistics.median(each[name] for each in results)

    def latency(what: str) -> str:
        places = [median(f"aggregated{what}Latency{place}pct") for place in (50, 99)]
        return " / ".join(f"{each:,.0f}" if each >= 100 else f"{each:.3g}" for each in places)

    return [
        f"{median('meanPublishRate'):,.0f}/s",
        f"{median('publishMBps'):,.1f} MB/s",
        f"{latency('Publish')} ms",
        f"{latency('EndToEnd')} ms",
    ]


def _ratio(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    spread = f" ({min(ratios):.2f}-{max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{statistics.median(ratios):.2f} x{spread}"


if __name__ == "__main__":
    sys.exit(main())
