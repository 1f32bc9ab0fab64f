"""ottla acl ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output, add_yes
from interfaces.terminal.words import Commands, Parser, command, family

_USER = "alice, which is User:alice, or * for everybody"
OPERATIONS = (
    *("all", "read", "write", "create", "delete", "alter", "describe", "clusteraction"),
    *("describeconfigs", "alterconfigs", "idempotentwrite"),
)


def add(commands: Commands) -> None:
    acls = family(
        commands,
        "acl",
        "who may do what: add, list, delete and test ACLs",
        "The rules are Kafka's; the broker needs authorizer.class.name.",
    )
    added = command(
        acls,
        "add",
        "acl:add",
        "allow a user operations on resources, or deny them",
        "As `ottla acl add alice --consumer --topic orders --group billing`.",
    )
    added.add_argument("user", metavar="USER", help=_USER)
    _add_resources(added)
    _add_rule(added)
    added.add_argument(
        "--producer",
        action="store_true",
        help="what a producer needs: Write, Describe and Create of the topics, Write and Describe "
        "of the transactional ids",
    )
    added.add_argument(
        "--consumer",
        action="store_true",
        help="what a consumer needs: Read and Describe of the topics, Read of the groups",
    )
    add_client(added)

    listed = command(acls, "list", "acl:list_acls", "list ACLs")
    _add_filter(listed)
    add_output(listed)
    add_client(listed)

    deleted = command(
        acls,
        "delete",
        "acl:delete",
        "delete the ACLs that a filter finds",
        "The filter needs USER or an option. Asks for confirmation on a terminal.",
    )
    _add_filter(deleted)
    add_yes(deleted)
    add_client(deleted)

    tested = command(
        acls,
        "test",
        "acl_decision:decide",
        "whether a user may do something, and which ACL decides",
        "As `ottla acl test alice write --topic orders`. The exit code is 1 if not.",
    )
    tested.add_argument("user", metavar="USER", help="alice, which is User:alice")
    tested.add_argument("operation", metavar="OPERATION", type=str.lower, choices=OPERATIONS[1:])
    _add_resources(tested)
    tested.add_argument("--host", default="127.0.0.1", help="of the client (127.0.0.1)")
    add_client(tested)


def _add_filter(parser: Parser) -> None:
    parser.add_argument("user", metavar="USER", nargs="?", help=_USER)
    _add_resources(parser)
    _add_rule(parser)


def _add_resources(parser: Parser) -> None:
    for option, what in (
        ("topic", "a topic; * is all of them"),
        ("group", "a group"),
        ("transactional-id", "a transactional id"),
    ):
        parser.add_argument(
            f"--{option}",
            dest=f"{option.replace('-', '_')}s",
            action="append",
            default=[],
            metavar="NAME",
            help=f"{what}; repeatable",
        )
    parser.add_argument("--cluster", action="store_true", help="the cluster")


def _add_rule(parser: Parser) -> None:
    parser.add_argument(
        "--operation",
        dest="operations",
        type=_operations,
        default=(),
        metavar="NAME[,NAME]",
        help=", ".join(OPERATIONS),
    )
    parser.add_argument(
        "--prefixed", action="store_true", help="all resources whose names begin with NAME"
    )
    parser.add_argument("--deny", action="store_true", help="deny instead of allow")
    parser.add_argument("--host", metavar="ADDRESS", help="clients of this IP address only")


def _operations(text: str) -> tuple[str, ...]:
    from argparse import ArgumentTypeError

    from interfaces.suggestions import did_you_mean

    names = tuple(name.strip().lower() for name in text.split(","))
    for name in names:
        if name not in OPERATIONS:
            raise ArgumentTypeError(f"unknown operation {name!r}{did_you_mean(name, OPERATIONS)}")
    return names
