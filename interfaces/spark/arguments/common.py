"""What several jobs share: which Spark, where the result goes."""

from __future__ import annotations

from interfaces.terminal import words
from interfaces.terminal.values import key_value
from interfaces.terminal.words import Commands, Parser


def command(commands: Commands, name: str, runs: str, short: str, more: str = "") -> Parser:
    """`runs` is MODULE:FUNCTION in interfaces.spark."""
    added = words.command(commands, name, runs, short, more)
    added.add_argument("--master", default="local[*]", help="the Spark to run on (local[*])")
    added.add_argument(
        "--conf",
        dest="spark_settings",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="a setting of Spark, like spark.driver.memory=2g",
    )
    return added


def add_result(parser: Parser, with_report: bool = True) -> None:
    parser.add_argument(
        "--json", metavar="FILE", help="where the result goes, as JSON (- : stdout)"
    )
    if with_report:
        parser.add_argument("--report", metavar="FILE.html", help="a page with plots, in one file")
