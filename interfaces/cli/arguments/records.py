"""ottla produce, ottla consume"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interfaces.cli.arguments.common import add_client, partition_numbers, seconds
from interfaces.terminal.values import at_least_one, key_value, not_negative
from interfaces.terminal.words import Commands, Parser, command

_READS = """Each line is the value of a record, or with -K its key and value. -f is the format of a
record: %k key, %v value, %h headers (a=b,c=d), %t topic, %p partition, %T timestamp, with text
between them, and \\n, \\t, \\xNN."""

_PRINTS = """-f is the format of a record: %t topic, %p partition, %o offset, %k key, %v or %s
value, %h headers, %T timestamp (ms), %d time (UTC), %K, %V or %S length of key and value,
-1 for null, %H number of headers, %% a percent sign, and \\n, \\t, \\xNN."""


_OUTPUTS = ("text", "json")


def add(commands: Commands) -> None:
    _add_produce(commands)
    _add_consume(commands)


def _add_produce(commands: Commands) -> None:
    produce = command(
        commands, "produce", "produce:produce", "send records from stdin or files", _READS
    )
    add = produce.add_argument
    add("first", nargs="?", metavar="TOPIC", help="the topic, unless set by -t or %%t in -f")
    add(
        "files",
        nargs="*",
        metavar="FILE",
        help="each file is one record; without files, each line of stdin is one",
    )
    add("-t", "--topic", metavar="TOPIC", help="the topic; all positional arguments are files")
    add("-k", "--key", metavar="KEY", help="the key of every record")
    add(
        "-K",
        "--key-delimiter",
        metavar="TEXT",
        help="each line is KEY, this text, VALUE; a line without it has no key",
    )
    add("-f", "--format", metavar="FORMAT", help="the input format (%%v\\n)")
    add("-p", "--partition", type=not_negative, metavar="N", help="partition")
    add(
        *("-H", "--header"),
        action="append",
        type=key_value,
        metavar="KEY=VALUE",
        help="a header of every record",
    )
    add(
        "-T",
        "--timestamp",
        metavar="TIMESTAMP",
        help="timestamp of every record: ms since 1970, or ISO 8601",
    )
    add(
        *("-Z", "--tombstone"),
        action="store_true",
        help="an empty value (or key) becomes null",
    )
    add("-l", "--lines", action="store_true", help="each line of the files is a record")
    add(
        "--json-lines",
        action="store_true",
        help="each line is what `ottla consume --output json` prints; -t, -p and -T replace its "
        "topic, partition and timestamp",
    )
    add(
        "--keep-partitions",
        action="store_true",
        help="with --json-lines: into the partitions of the lines",
    )
    add_compression(produce)
    add("--acks", choices=("0", "1", "all"), default="all", help="required acknowledgements (all)")
    add("-q", "--quiet", action="store_true", help="do not print the offsets")
    add_client(produce)


def add_compression(parser: Parser) -> None:
    parser.add_argument(
        *("-z", "--compression"),
        choices=("none", "gzip", "snappy", "lz4", "zstd"),
        default="none",
        help="compression of batches (none)",
    )


def _add_consume(commands: Commands) -> None:
    consume = command(commands, "consume", "consume:consume", "print records", _PRINTS)
    add_consume_options(consume)


def add_consume_options(consume: Parser) -> None:
    add = consume.add_argument
    add(
        "topics",
        nargs="+",
        metavar="TOPIC",
        help="one that begins with ^ is a regular expression",
    )
    add_selection(consume)
    add("-e", "--exit", action="store_true", help="stop at the current end")
    add(
        "-g",
        "--group",
        metavar="GROUP",
        help="as a member of this group, from its committed offsets",
    )
    add("-f", "--format", metavar="FORMAT", help="the output format, or json (%%v\\n)")
    add("--output", choices=_OUTPUTS, default="text", help="json: one object per line")
    add("--idle", type=seconds, metavar="TIME", help="stop after this time without a record")
    add("--wait", action="store_true", help="wait until the topic exists")
    add_client(consume)


def add_selection(parser: Parser) -> None:
    """Which records."""
    add = parser.add_argument
    add(
        *("-o", "--offset"),
        action=_OffsetOrOutput,
        metavar="OFFSET",
        help="where to begin: start, end, 47, +2 (after the start), -3 (before the end) or "
        "@TIMESTAMP; and where to stop: 47:50, start:@2026-01-31T12:00, :end (start; with -g the "
        "committed offset). -o json is --output json",
    )
    add("-n", "--number", type=at_least_one, metavar="N", help="stop after N records")
    add("-p", "--partitions", type=partition_numbers, metavar="0,2-3", help="these partitions only")
    add(
        "--grep",
        action="append",
        metavar="REGEX",
        help="only records whose value, key or headers match, like '(?i)error'; repeatable",
    )
    add(
        "--where",
        action="append",
        metavar="CONDITION",
        help="only records whose value is JSON and matches, like '$.total > 10' or "
        "'$.items[0].sku contains a-'; repeatable",
    )
    add(
        "--isolation",
        choices=("read_committed", "read_uncommitted"),
        default="read_committed",
        help="visibility of open transactions (read_committed)",
    )


class _OffsetOrOutput(argparse.Action):
    """`-o` is the offset in rpk and kcat, the output format in other commands and kubectl."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        if values in ("table", "yaml"):
            raise argparse.ArgumentError(self, f"{values} is not supported: -o json, or -f FORMAT")
        setattr(namespace, "output" if values in _OUTPUTS else "offset", values)
