"""What several jobs share: which Spark, which broker, where the result goes."""

from __future__ import annotations

import argparse
import re
from typing import Any, TypeAlias

Parser: TypeAlias = "argparse.ArgumentParser"
#: What `add_subparsers` gives; its parsers are of whatever class the parser above has.
Commands: TypeAlias = "argparse._SubParsersAction[Any]"

DEFAULT_BOOTSTRAP = "localhost:9092"
BOOTSTRAP_VARIABLE = "OTTLA_BOOTSTRAP"
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def command(commands: Commands, name: str, runs: str, short: str, more: str = "") -> Parser:
    """`runs` is MODULE:FUNCTION in interfaces.spark."""
    description = f"{short[0].upper()}{short[1:]}.{' ' + more if more else ''}"
    added: Parser = commands.add_parser(name, help=short, description=description)
    added.set_defaults(runs=runs)
    _add_session(added)
    return added


def _add_session(parser: Parser) -> None:
    parser.add_argument("--master", default="local[*]", help="the Spark to run on (local[*])")
    parser.add_argument(
        "--conf",
        dest="spark_settings",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="a setting of Spark, like spark.driver.memory=2g",
    )


def add_broker(parser: Parser) -> None:
    parser.add_argument(
        *("-b", "--bootstrap-server"),
        metavar="HOST:PORT[,...]",
        help=f"the broker: any Kafka broker (${BOOTSTRAP_VARIABLE}, or {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument(
        "-X",
        dest="client_options",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="an option of the Kafka client, like security.protocol=SSL",
    )


def add_result(parser: Parser, with_report: bool = True) -> None:
    parser.add_argument(
        "--json", metavar="FILE", help="where the result goes, as JSON (- : stdout)"
    )
    if with_report:
        parser.add_argument("--report", metavar="FILE.html", help="a page with plots, in one file")


def key_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, not {text!r}")
    return name.strip(), value


def at_least_one(text: str) -> int:
    try:
        found = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if found < 1:
        raise argparse.ArgumentTypeError(f"{found} is less than 1")
    return found


def seconds(text: str) -> float:
    found = _TIME.fullmatch(text)
    if not found or not float(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no time like 30s or 5m")
    return float(found[1]) * _SECONDS[found[2] or "s"]
