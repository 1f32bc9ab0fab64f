"""Commands, and the options for the broker and its client."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from interfaces.terminal.values import key_value

Parser: TypeAlias = "argparse.ArgumentParser"
#: The result of `add_subparsers`.
Commands: TypeAlias = "argparse._SubParsersAction[Any]"

_BOOTSTRAP_VARIABLE = "OTTLA_BOOTSTRAP"
_DEFAULT_BOOTSTRAP = "localhost:9092"
_BOOTSTRAP_KEYS = ("bootstrap.servers", "metadata.broker.list", "brokers")


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
    added: Parser = commands.add_parser(
        name, help=short, description=description, aliases=aliases
    )
    added.set_defaults(runs=runs)
    return added


def family(commands: Commands, name: str, short: str, more: str = "") -> Commands:
    description = f"{short[0].upper()}{short[1:]}.{' ' + more if more else ''}"
    added: Parser = commands.add_parser(name, help=short, description=description)
    return added.add_subparsers(dest=f"{name}_command", metavar="COMMAND", required=True)


def add_broker(parser: Parser) -> None:
    parser.add_argument(
        *("-b", "--bootstrap-server"),
        metavar="HOST:PORT[,...]",
        help=f"any Kafka broker (${_BOOTSTRAP_VARIABLE}, or {_DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument(
        "-X",
        dest="client_options",
        action="append",
        default=[],
        type=key_value,
        metavar="KEY=VALUE",
        help="an option of librdkafka, like security.protocol=SSL",
    )


def bootstrap(parsed: argparse.Namespace) -> str:
    """The servers of the options, the environment, or the default."""
    named: str | None = parsed.bootstrap_server
    for key in _BOOTSTRAP_KEYS:
        named = named or dict(parsed.client_options).get(key)
    return named or os.environ.get(_BOOTSTRAP_VARIABLE) or _DEFAULT_BOOTSTRAP
