"""Arguments of several jobs: the Spark master, and the files for the result."""

from __future__ import annotations

from interfaces.terminal import words
from interfaces.terminal.values import key_value
from interfaces.terminal.words import Commands, Parser


def command(commands: Commands, name: str, runs: str, short: str, more: str = "") -> Parser:
    """`runs` is MODULE:FUNCTION in interfaces.spark."""
    added = words.command(commands, name, runs, short, more)
    added.add_argument("--master", default="local[*]", help="Spark master (local[*])")
    added.add_argument(
        "--conf",
        dest="spark_settings",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="Spark setting, like spark.driver.memory=2g",
    )
    return added


def add_result(parser: Parser, with_report: bool = True) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- : stdout)")
    if with_report:
        parser.add_argument(
            "--report", metavar="FILE.html", help="write a page with plots, in one file"
        )
