"""ottla doctor"""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output
from interfaces.terminal.words import Commands, command


def add(commands: Commands) -> None:
    doctor = command(
        commands,
        "doctor",
        "doctor:doctor",
        "find out why a client cannot connect",
        "Resolves names, connects, checks protocol, TLS, SASL and API versions, and tries every "
        "advertised address. Each problem has its remedy; with a problem the exit code is 1. With "
        "--storage it checks the PostgreSQL of a broker instead: durability and copies, "
        "connections, round trip, clock, vacuum, long transactions, and the bucket of objects. It "
        "changes nothing in PostgreSQL; in the bucket it writes a small object, and deletes it.",
    )
    doctor.add_argument(
        "--storage", metavar="URL", help="postgresql://user@host/database, as of `ottla serve`"
    )
    add_output(doctor)
    add_client(doctor)
