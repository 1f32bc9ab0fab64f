"""ottla quota ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output
from interfaces.terminal.values import key_value
from interfaces.terminal.words import Commands, Parser, command, family

QUOTAS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
_EXCLUSIVE = "--user may be with --client-id, --ip is alone"


def add(commands: Commands) -> None:
    quotas = family(commands, "quota", "limit the rates of users, client ids and IP addresses")
    changed = command(
        quotas,
        "set",
        "quota:set_quotas",
        "set quotas, or remove them",
        f"As `ottla quota set --user alice producer_byte_rate=1048576`. {_EXCLUSIVE}.",
    )
    _add_entity(changed)
    changed.add_argument(
        "quotas",
        nargs="*",
        default=[],
        type=key_value,
        metavar="QUOTA=VALUE",
        help=", ".join(QUOTAS),
    )
    changed.add_argument(
        "--remove", action="append", default=[], metavar="QUOTA", choices=QUOTAS, help="repeatable"
    )
    add_client(changed)

    listed = command(quotas, "list", "quota:list_quotas", "list quotas, of all entities or of one")
    _add_entity(listed)
    add_output(listed)
    add_client(listed)


def _add_entity(parser: Parser) -> None:
    for option, one_of, what in (
        ("user", "a", "user"),
        ("client-id", "a", "client id"),
        ("ip", "an", "IP address"),
    ):
        one = parser.add_mutually_exclusive_group()
        one.add_argument(f"--{option}", metavar="NAME", help=f"{one_of} {what}")
        one.add_argument(
            f"--default-{option}", action="store_true", help=f"each {what} without its own quota"
        )
