"""ottla group ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import (
    add_client,
    add_dry_run,
    add_output,
    add_yes,
    partition_numbers,
)
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    groups = family(commands, "group", "look at, move and delete consumer groups")
    listed = command(groups, "list", "group:list_groups", "list groups with protocol and state")
    listed.add_argument("pattern", nargs="?", help="only ids that match this regular expression")
    add_output(listed)
    add_client(listed)

    describe = command(
        groups,
        "describe",
        "group:describe",
        "offsets, lag and members",
        "The columns are those of kafka-consumer-groups, with --state too.",
    )
    describe.add_argument("names", nargs="+", metavar="GROUP")
    describe.add_argument("-s", "--state", action="store_true", help="only state and coordinator")
    add_output(describe)
    add_client(describe)

    seek = command(
        groups,
        "seek",
        "group_seek:seek",
        "move the offsets of a group that has no members",
        "Without --topics those topics that it has offsets of. The columns are those of "
        "kafka-consumer-groups --reset-offsets, and PRIOR-OFFSET.",
    )
    seek.add_argument("name", metavar="GROUP")
    seek.add_argument(
        "--to",
        required=True,
        metavar="WHERE",
        help="start, end, 47, +2 or -3 (from where it is), or @TIMESTAMP",
    )
    seek.add_argument(
        *("-t", "--topics"), action="append", metavar="TOPIC", help="of this topic; again for more"
    )
    seek.add_argument(
        *("-p", "--partitions"), type=partition_numbers, metavar="0,2-3", help="only these"
    )
    add_dry_run(seek)
    add_output(seek)
    add_client(seek)

    delete = command(groups, "delete", "group:delete", "delete groups that have no members")
    delete.add_argument("names", nargs="+", metavar="GROUP")
    add_yes(delete)
    add_client(delete)

    forget = command(
        groups, "offset-delete", "group_offsets:delete", "delete committed offsets of a group"
    )
    forget.add_argument("name", metavar="GROUP")
    forget.add_argument(
        *("-t", "--topics"), action="append", required=True, metavar="TOPIC", help="of this topic"
    )
    forget.add_argument(
        *("-p", "--partitions"), type=partition_numbers, metavar="0,2-3", help="only these"
    )
    add_client(forget)
