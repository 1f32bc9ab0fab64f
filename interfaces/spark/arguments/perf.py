"""ottla spark perf ..."""

from __future__ import annotations

import argparse

from interfaces.spark.arguments.common import add_result, command
from interfaces.terminal.values import at_least_one, seconds, seconds_or_none
from interfaces.terminal.words import Commands, add_broker


def add(commands: Commands) -> None:
    perf = command(
        commands,
        "perf",
        "jobs.perf.job:run",
        "throughput: produce and consume, and verify each record",
        "Creates topics and deletes them. Exit codes: 3 if records were lost, duplicated, "
        "reordered or corrupted; 4 if worse than --against by more than --threshold; 5 if nothing "
        "was published in the measured time.",
    )
    perf.add_argument(
        "workload",
        nargs="?",
        metavar="WORKLOAD.yaml",
        help="a workload of OpenMessaging's benchmarks",
    )
    perf.add_argument("--name", metavar="TEXT", help="name of the run in its results")
    for name, meaning in (
        ("--topics", "(1)"),
        ("--partitions", "of each topic (4)"),
        ("--size", "bytes of each record (1024)"),
        ("--producers", "of each topic (2)"),
        ("--consumers", "of each topic (2)"),
    ):
        perf.add_argument(name, type=at_least_one, metavar="N", help=meaning)
    perf.add_argument(
        "--rate",
        type=_rate,
        metavar="N",
        help="records per second in total (0: as fast as possible)",
    )
    perf.add_argument(
        "--keys", choices=("NO_KEY", "KEY_ROUND_ROBIN", "RANDOM_NANO", "ZIPF"), help="(NO_KEY)"
    )
    perf.add_argument("--duration", type=seconds, metavar="TIME", help="like 30s or 5m (1m)")
    perf.add_argument("--warm-up", type=seconds_or_none, metavar="TIME", help="not measured (6s)")
    perf.add_argument(
        "--patience",
        type=seconds,
        default=30.0,
        metavar="TIME",
        help="wait for an unreachable broker, and for records after the end (30s)",
    )
    perf.add_argument("--keep", action="store_true", help="keep the topics")
    perf.add_argument("--against", metavar="RESULT.json", help="earlier result to compare with")
    perf.add_argument(
        "--threshold", type=_rate, default=10.0, metavar="PERCENT", help="allowed difference (10)"
    )
    add_broker(perf)
    add_result(perf)


def _rate(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return found
