"""ottla raw ..."""

from __future__ import annotations

from argparse import ArgumentTypeError

from interfaces.terminal.values import not_negative
from interfaces.terminal.words import Commands, Parser, command, family


def add(commands: Commands) -> None:
    raw = family(commands, "raw", "produce and consume lines over a raw listener")
    produce = command(
        raw, "produce", "raw:produce", "send lines of stdin, print the offset of each in the stream"
    )
    _add_address(produce)
    consume = command(raw, "consume", "raw:consume", "print records as lines, without end")
    _add_address(consume)
    consume.add_argument(
        "offset", nargs="?", type=_position, default=0, help="in the stream, in bytes (0)"
    )
    consume.add_argument(
        *("-n", "--count"), type=not_negative, default=0, help="end after so many records"
    )


def _add_address(parser: Parser) -> None:
    parser.add_argument(
        "address", nargs="?", default="localhost:12000", metavar="HOST:PORT", help="localhost:12000"
    )
    parser.add_argument("--ca", metavar="FILE", help="use TLS, and trust these authorities (PEM)")
    parser.add_argument(
        "--certificate", metavar="FILE", help="for TLS: the client's own, with its key (PEM)"
    )


def _position(text: str) -> int:
    found = not_negative(text)
    if found >= 1 << 64:
        raise ArgumentTypeError(f"{found} is more than 64 bits")
    return found
