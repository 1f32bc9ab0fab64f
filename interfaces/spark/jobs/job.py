"""What every job has: a session, a broker's address, and a result as lines, JSON and a page."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.registration import register
from interfaces.spark.session import open_session
from interfaces.terminal.profiles import connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: For jobs whose tasks must not run twice: neither after a failure nor because one is slow.
ONE_TRY = (
    ("spark.task.maxFailures", "1"),
    ("spark.stage.maxConsecutiveAttempts", "1"),
    ("spark.speculation", "false"),
)
#: A path with a scheme is Spark's to find.
_URI = re.compile(r"[a-zA-Z][\w+.-]+:")


@contextmanager
def spark_of(parsed: argparse.Namespace) -> Iterator[SparkSession]:
    """A session that ends with the job, unless the process had one."""
    from pyspark.sql import SparkSession

    check_results(parsed)
    active = SparkSession.getActiveSession()
    name = f"ottla {parsed.spark_command}"
    session = active or open_session(name, parsed.master, parsed.spark_settings)
    register(session)
    try:
        yield session
    finally:
        if active is None:
            session.stop()


def kafka_options(parsed: argparse.Namespace) -> dict[str, str]:
    """Of the data source `ottla`."""
    try:
        servers, options = connection(parsed)
    except ValueError as wrong:
        raise WrongOption(str(wrong)) from None
    return {
        **{f"kafka.{name}": value for name, value in options.items()},
        "kafka.bootstrap.servers": servers,
    }


def require_broker(options: KafkaOptions) -> None:
    """Before Spark starts, which takes ten seconds: wrong settings, and no broker there."""
    from confluent_kafka.admin import AdminClient

    options.made(AdminClient)
    look(options.servers)


def is_local(path: str) -> bool:
    return not _URI.match(path)


def show_result(
    parsed: argparse.Namespace,
    result: Mapping[str, Any],
    lines: list[str],
    page: Callable[[], str] | None = None,
) -> None:
    """`lines` are for people; the JSON is alone where it is on stdout."""
    if parsed.json == "-":
        print(json.dumps(result, indent=2))
    else:
        print("\n".join(lines))
        if parsed.json:
            _write(parsed.json, json.dumps(result, indent=2) + "\n")
    if page is not None and parsed.report:
        _write(parsed.report, page())
        print(f"The report is in {parsed.report}", file=sys.stderr)


def _write(file: str, text: str) -> None:
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text, "utf-8")
    except OSError as failure:
        raise JobFailed(f"{file} cannot be written: {failure.strerror}") from failure


def check_results(parsed: argparse.Namespace) -> None:
    """--json, --report and --to: a run does not begin when its result cannot be written."""
    for option in ("json", "report"):
        file = getattr(parsed, option, None)
        if file and file != "-":
            _require_writable(Path(file), Path(file).parent)
    folder = getattr(parsed, "to", None)
    if folder and is_local(folder):
        _require_writable(Path(folder), Path(folder))


def _require_writable(path: Path, folder: Path) -> None:
    """`folder` is created when the run ends, in the nearest one above it that exists."""
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not above.is_dir():
        raise JobFailed(f"{path} cannot be written: {above} is no folder")
    if path != folder and path.is_dir():
        raise JobFailed(f"{path} cannot be written: it is a folder")
    if not os.access(path if path.exists() else above, os.W_OK):
        raise JobFailed(f"{path} cannot be written: permission denied")
