"""What several commands share: how to reach a broker, how to print, how to read a KEY=VALUE."""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

Parser: TypeAlias = "argparse.ArgumentParser"
#: What `add_subparsers` gives; its parsers are of whatever class the parser above has.
Commands: TypeAlias = "argparse._SubParsersAction[Any]"

DEFAULT_BOOTSTRAP = "localhost:9092"
DEFAULT_TIMEOUT_S = 10.0


def command(commands: Commands, name: str, runs: str, short: str, more: str = "") -> Parser:
    """`runs` is MODULE:FUNCTION in interfaces.cli."""
    description = f"{short[0].upper()}{short[1:]}.{' ' + more if more else ''}"
    added: Parser = commands.add_parser(name, help=short, description=description)
    added.set_defaults(runs=runs)
    return added


def family(commands: Commands, name: str, short: str) -> Commands:
    added: Parser = commands.add_parser(
        name, help=short, description=f"{short[0].upper()}{short[1:]}."
    )
    return added.add_subparsers(dest=f"{name}_command", metavar="COMMAND", required=True)


def add_client(parser: Parser) -> None:
    parser.add_argument(
        *("-b", "--bootstrap-server"),
        metavar="HOST:PORT[,...]",
        help=f"the broker: any Kafka broker ($OTTLA_BOOTSTRAP, or {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument(
        "-X",
        dest="client_options",
        action="append",
        type=key_value,
        metavar="KEY=VALUE",
        help="an option of librdkafka, like security.protocol=SSL",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=DEFAULT_TIMEOUT_S,
        metavar="SECONDS",
        help=f"how long to wait for a broker's answer ({DEFAULT_TIMEOUT_S:g})",
    )


def add_output(parser: Parser) -> None:
    parser.add_argument(
        *("-o", "--output"),
        choices=("table", "json", "yaml"),
        default="table",
        help="how to print it (table)",
    )


def add_dry_run(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")


def add_yes(parser: Parser) -> None:
    parser.add_argument(
        *("-y", "--yes"), action="store_true", help="do not ask first, as it does on a terminal"
    )


def key_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, not {text!r}")
    return name.strip(), value


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None
    if not 0 < found <= 86_400:
        raise argparse.ArgumentTypeError(
            f"expected more than 0 and up to 86400 seconds, not {text}"
        )
    return found


def at_least_one(text: str) -> int:
    return _whole_number(text, 1)


def not_negative(text: str) -> int:
    return _whole_number(text, 0)


def _whole_number(text: str, least: int) -> int:
    try:
        found = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if found < least:
        raise argparse.ArgumentTypeError(f"{found} is less than {least}")
    return found


def partition_numbers(text: str) -> tuple[int, ...]:
    """0 or 0,2 or 0-3,7"""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start, end = not_negative(first), not_negative(last if dash else first)
        if end < start or end - start > 100_000:
            raise argparse.ArgumentTypeError(f"{part!r} is no range of partitions")
        found.update(range(start, end + 1))
    return tuple(sorted(found))
