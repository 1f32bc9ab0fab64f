"""The words of `ottla spark ...`; what they mean is in interfaces/spark/jobs.

Building them imports nothing but argparse, so that `ottla --help` and completion stay quick.
"""

from __future__ import annotations

from typing import Any

from interfaces.spark.arguments import analyze, archive, perf, requests
from interfaces.spark.arguments.common import Commands

_JOBS: tuple[Any, ...] = (perf, archive, analyze, requests)


def add_commands(commands: Commands) -> None:
    spark = commands.add_parser(
        "spark",
        help="jobs on Spark: throughput, archive, analysis",
        description="Jobs on Spark, local or any master. Needs `pip install 'ottla[spark]'`.",
    )
    jobs = spark.add_subparsers(dest="spark_command", metavar="COMMAND", required=True)
    for job in _JOBS:
        job.add(jobs)
