"""ottla user ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output, add_yes
from interfaces.terminal.values import at_least_one
from interfaces.terminal.words import Commands, Parser, command, family

_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_ITERATIONS = 4096


def add(commands: Commands) -> None:
    users = family(
        commands,
        "user",
        "add users, change their passwords, delete them",
        "Users log in with SCRAM or PLAIN; the broker has salted passwords only.",
    )
    added = command(users, "add", "user:add", "add a user with a password")
    added.add_argument("name", metavar="USER")
    _add_password(added)
    _add_place(added)

    changed = command(users, "password", "user:password", "change the password of a user")
    changed.add_argument("name", metavar="USER")
    _add_password(changed)
    _add_place(changed)

    listed = command(users, "list", "user:list_users", "list users with their mechanisms")
    add_output(listed)
    _add_place(listed)

    deleted = command(
        users, "delete", "user:delete", "delete users", "Their ACLs and open connections stay."
    )
    deleted.add_argument("names", nargs="+", metavar="USER")
    add_yes(deleted)
    _add_place(deleted)


def _add_place(parser: Parser) -> None:
    parser.add_argument("--data", metavar="DIR", help="the data folder of a stopped broker")
    add_client(parser)


def _add_password(parser: Parser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--password",
        metavar="PASSWORD",
        help="better ${env:NAME} or ${file:PATH}; without it the command asks, on a terminal",
    )
    source.add_argument(
        "--generate", action="store_true", help="make a random password, and print it"
    )
    parser.add_argument(
        "--mechanism",
        dest="mechanisms",
        action="append",
        choices=_MECHANISMS,
        help="repeatable (both)",
    )
    parser.add_argument(
        "--iterations",
        type=at_least_one,
        default=_ITERATIONS,
        metavar="N",
        help=f"of the salted password ({_ITERATIONS})",
    )
    parser.set_defaults(all_mechanisms=_MECHANISMS)
