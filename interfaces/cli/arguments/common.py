"""Options of several commands: timeout, output, partitions."""

from __future__ import annotations

import argparse

from interfaces.terminal import values
from interfaces.terminal.values import not_negative
from interfaces.terminal.words import Parser, add_broker

_DEFAULT_TIMEOUT_S = 10.0
_LONGEST_S = 86_400


def add_client(parser: Parser) -> None:
    add_broker(parser)
    add_timeout(parser)


def add_admin(parser: Parser) -> None:
    parser.add_argument(
        "--admin",
        metavar="HOST:PORT",
        help="address of REST, or a URL (that of the profile or the broker)",
    )


def add_timeout(parser: Parser) -> None:
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=_DEFAULT_TIMEOUT_S,
        metavar="TIME",
        help=f"how long to wait for a response ({_DEFAULT_TIMEOUT_S:g}s)",
    )


def add_output(parser: Parser) -> None:
    parser.add_argument(
        *("-o", "--output"),
        choices=("table", "json", "yaml"),
        default="table",
        help="output format (table)",
    )


def add_dry_run(parser: Parser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="change nothing, print what would change"
    )


def add_yes(parser: Parser) -> None:
    parser.add_argument(
        *("-y", "--yes"), action="store_true", help="do not ask for confirmation (on a terminal)"
    )


def seconds(text: str) -> float:
    found = values.seconds(text)
    if found > _LONGEST_S:
        raise argparse.ArgumentTypeError(f"expected one day at most, not {text}")
    return found


def partition_numbers(text: str) -> tuple[int, ...]:
    """0 or 0,2 or 0-3,7"""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start, end = not_negative(first), not_negative(last if dash else first)
        if end < start or end - start > 100_000:
            raise argparse.ArgumentTypeError(f"{part!r} is not a range of partitions")
        found.update(range(start, end + 1))
    return tuple(sorted(found))


def add_broker_store(parser: Parser) -> None:
    """`parsed.broker_store` is the URL of the store that `ottla serve` would open."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="the data folder of a stopped or new broker (that of `ottla serve`: ./ottla-data)",
    )
    parser.add_argument(
        "--storage", metavar="URL", help="lmdb:///a/folder or files:///a/folder, in place of --data"
    )
    parser.set_defaults(broker_store=None)
