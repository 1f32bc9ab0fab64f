"""ottla offsets"""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output, partition_numbers
from interfaces.terminal.words import Commands, command


def add(commands: Commands) -> None:
    offsets = command(
        commands,
        "offsets",
        "offsets:offsets",
        "where topics begin and end, or where a moment lies",
        "As kafka-get-offsets: TOPIC, PARTITION, OFFSET.",
    )
    offsets.add_argument("topics", nargs="+", metavar="TOPIC")
    offsets.add_argument(
        *("-a", "--at"),
        action="append",
        metavar="WHERE",
        help="start, end or @TIMESTAMP (start and end)",
    )
    offsets.add_argument(
        *("-p", "--partitions"), type=partition_numbers, metavar="0,2-3", help="only these"
    )
    add_output(offsets)
    add_client(offsets)
