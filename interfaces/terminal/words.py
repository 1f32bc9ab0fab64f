"""Commands, and the options for the broker and its client."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from interfaces.terminal.values import key_value

Parser: TypeAlias = "argparse.ArgumentParser"
#: The result of `add_subparsers`.
Commands: TypeAlias = "argparse._SubParsersAction[Any]"


def command(
    commands: Commands,
    name: str,
    runs: str,
    short: str,
    more: str = "",
    aliases: Sequence[str] = (),
) -> Parser:
    """`runs` is MODULE:FUNCTION in the package whose command it is."""
    description = f"{short[0].upper()}{short[1:]}.{' ' + more if more else ''}"
    added: Parser = commands.add_parser(name, help=short, description=description, aliases=aliases)
    added.set_defaults(runs=runs)
    return added


def family(commands: Commands, name: str, short: str, more: str = "") -> Commands:
    description = f"{short[0].upper()}{short[1:]}.{' ' + more if more else ''}"
    added: Parser = commands.add_parser(name, help=short, description=description)
    return added.add_subparsers(dest=f"{name}_command", metavar="COMMAND", required=True)


def add_broker(parser: Parser) -> None:
    add_servers(parser)
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="options of a Java client, as for Kafka's own tools; -X wins",
    )
    add_profile(parser)


def add_profile(parser: Parser) -> None:
    parser.add_argument("--profile", metavar="NAME", help="the cluster of `ottla profile create`")


def add_bootstrap(parser: Parser) -> None:
    parser.add_argument(
        *("-b", "--bootstrap-server"),
        metavar="HOST:PORT[,...]",
        help="any Kafka broker ($OTTLA_BOOTSTRAP, the profile in use, or localhost:9092)",
    )


def add_servers(parser: Parser) -> None:
    add_bootstrap(parser)
    parser.add_argument(
        "-X",
        dest="client_options",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="an option of librdkafka, like security.protocol=SSL; a value may be ${env:NAME} or "
        "${file:PATH}",
    )
