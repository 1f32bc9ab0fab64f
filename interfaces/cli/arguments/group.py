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
    groups = family(commands, "group", "describe consumer groups, reset their offsets, delete them")
    listed = command(groups, "list", "group:list_groups", "list groups with type and state")
    listed.add_argument("pattern", nargs="?", help="a regular expression for group ids")
    add_output(listed)
    add_client(listed)

    describe = command(
        groups,
        "describe",
        "group:describe",
        "offsets, lag and members",
        "Prints the columns of kafka-consumer-groups; so does --state.",
    )
    describe.add_argument("names", nargs="+", metavar="GROUP")
    describe.add_argument("-s", "--state", action="store_true", help="state and coordinator only")
    describe.add_argument(
        "--export",
        action="store_true",
        help="committed offsets of one group as lines of topic,partition,offset, for `group seek "
        "--from-file` and kafka-consumer-groups --from-file",
    )
    add_output(describe)
    add_client(describe)

    seek = command(
        groups,
        "seek",
        "group_seek:seek",
        "reset the committed offsets of a group without members",
        "Without --topics, of all topics with committed offsets. Prints the columns of "
        "kafka-consumer-groups --reset-offsets, and PRIOR-OFFSET.",
    )
    seek.add_argument("name", metavar="GROUP")
    seek.add_argument(
        "--to",
        metavar="OFFSET",
        help="start, end, 47, +2 or -3 (from the committed offset), or @TIMESTAMP",
    )
    seek.add_argument(
        "--from-file",
        metavar="FILE",
        help="lines of topic,partition,offset, as from `group describe --export`",
    )
    seek.add_argument(
        *("-t", "--topics"), action="append", metavar="TOPIC", help="this topic only; repeatable"
    )
    seek.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
    add_dry_run(seek)
    add_output(seek)
    add_client(seek)

    delete = command(groups, "delete", "group:delete", "delete groups without members")
    delete.add_argument("names", nargs="+", metavar="GROUP")
    add_yes(delete)
    add_client(delete)

    forget = command(
        groups, "offset-delete", "group_offsets:delete", "delete committed offsets of a group"
    )
    forget.add_argument("name", metavar="GROUP")
    forget.add_argument(
        *("-t", "--topics"),
        action="append",
        required=True,
        metavar="TOPIC",
        help="of this topic; repeatable",
    )
    forget.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
    add_client(forget)
