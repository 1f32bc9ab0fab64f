"""What every job has: a session, a broker's address, and a result as text, JSON and a page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.spark.arguments.common import BOOTSTRAP_VARIABLE, DEFAULT_BOOTSTRAP
from interfaces.spark.failures import JobFailed
from interfaces.spark.registration import register
from interfaces.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_of(parsed: argparse.Namespace) -> Iterator[SparkSession]:
    """Ends with the job, unless it was there before."""
    from pyspark.sql import SparkSession

    theirs = SparkSession.getActiveSession()
    name = f"ottla {parsed.spark_command}"
    session = theirs or open_session(name, parsed.master, parsed.spark_settings)
    register(session)
    try:
        yield session
    finally:
        if theirs is None:
            session.stop()


def kafka_options(parsed: argparse.Namespace) -> dict[str, str]:
    """As the data source `ottla` takes them."""
    servers = parsed.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP
    given = {f"kafka.{name}": value for name, value in parsed.client_options}
    return {"kafka.bootstrap.servers": servers, **given}


def tell(
    parsed: argparse.Namespace,
    result: Mapping[str, Any],
    lines: list[str],
    page: Callable[[], str] | None = None,
) -> None:
    """`lines` are for people; with the JSON on stdout there is nothing else there."""
    if parsed.json == "-":
        print(json.dumps(result, indent=2))
    else:
        print("\n".join(lines))
        if parsed.json:
            write(parsed.json, json.dumps(result, indent=2) + "\n")
    if page is not None and parsed.report:
        write(parsed.report, page())
        print(f"The report is in {parsed.report}", file=sys.stderr)


def write(file: str, text: str) -> None:
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text, "utf-8")
    except OSError as failure:
        raise JobFailed(f"{file} cannot be written: {failure.strerror}") from failure
