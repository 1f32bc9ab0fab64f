"""What every job has: a session, a broker's address, and a result as text, JSON and a page."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed
from interfaces.spark.registration import register
from interfaces.spark.session import open_session
from interfaces.terminal.words import bootstrap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Where a task that is run twice would do harm: not after a failure, and not because it is slow.
ONE_TRY = (
    ("spark.task.maxFailures", "1"),
    ("spark.stage.maxConsecutiveAttempts", "1"),
    ("spark.speculation", "false"),
)
#: A place that is not of this machine, or that Spark shall find itself.
_URI = re.compile(r"[a-zA-Z][\w+.-]+:")


@contextmanager
def spark_of(parsed: argparse.Namespace) -> Iterator[SparkSession]:
    """Ends with the job, unless it was there before. First, whether results can be kept."""
    from pyspark.sql import SparkSession

    check_results(parsed)
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
    given = {f"kafka.{name}": value for name, value in parsed.client_options}
    return {**given, "kafka.bootstrap.servers": bootstrap(parsed)}


def require_broker(options: KafkaOptions) -> None:
    """Before Spark starts, which takes ten seconds: what no client takes, and nobody there."""
    from confluent_kafka.admin import AdminClient

    options.made(AdminClient)
    look(options.servers)


def is_local(path: str) -> bool:
    return not _URI.match(path)


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
    with _told(file):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text, "utf-8")


def check_results(parsed: argparse.Namespace) -> None:
    """--json, --report and --to: a run whose result cannot be kept is not begun."""
    for option in ("json", "report"):
        file = getattr(parsed, option, None)
        if file and file != "-":
            _check_file(Path(file))
    folder = getattr(parsed, "to", None)
    if folder and is_local(folder):
        _check_folder(Path(folder))


def _check_folder(folder: Path) -> None:
    with _told(str(folder)), _made(folder), tempfile.TemporaryFile(dir=folder):
        pass


def _check_file(file: Path) -> None:
    with _told(str(file)), _made(file.parent):
        if file.exists():
            if file.is_file() or file.is_dir():  # a pipe would wait for its reader
                file.open("ab").close()
        else:
            file.open("ab").close()
            file.unlink()


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """For a look: what was not there before, of those above too, goes again."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for each in missing:
            with suppress(OSError):  # it was not made, or another has put something there
                each.rmdir()


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        raise JobFailed(f"{path} cannot be written: {failure.strerror}") from failure
