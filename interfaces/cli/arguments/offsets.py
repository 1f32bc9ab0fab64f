"""ottla offsets"""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output, partition_numbers
from interfaces.terminal.words import Commands, command


def add(commands: Commands) -> None:
    offsets = command(
        commands,
        "offsets",
        "offsets:offsets",
        "start and end offsets of partitions, or offsets of timestamps",
        "The counterpart of kafka-get-offsets.",
    )
    offsets.add_argument("topics", nargs="+", metavar="TOPIC")
    offsets.add_argument(
        *("-a", "--at"),
        action="append",
        metavar="OFFSET",
        help="start, end or @TIMESTAMP; repeatable (start and end)",
    )
    offsets.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
    add_output(offsets)
    add_client(offsets)
