"""The arguments of `ottla spark ...`; the jobs are in interfaces/spark/jobs.

Imports only argparse, so that `ottla --help` and completion stay fast.
"""

from __future__ import annotations

from typing import Any

from interfaces.spark.arguments import analyze, archive, perf, requests
from interfaces.terminal.words import Commands, family

_JOBS: tuple[Any, ...] = (perf, archive, analyze, requests)


def add_commands(commands: Commands) -> None:
    jobs = family(
        commands,
        "spark",
        "jobs on Spark: throughput, archive, analysis",
        "Local or any master. Needs Spark: in a checkout of Ottla, `pip install '.[spark]'`.",
    )
    for job in _JOBS:
        job.add(jobs)
