"""ottla requests"""

from __future__ import annotations

from interfaces.cli.arguments.common import add_admin, add_client, seconds
from interfaces.terminal.values import at_least_one
from interfaces.terminal.words import Commands, command


def add(commands: Commands) -> None:
    requests = command(
        commands,
        "requests",
        "requests:requests",
        "the newest requests of Kafka clients, from Ottla's REST",
        "With client, API, duration and errors, as /requestz has them; the newest is the last. The "
        "Kafka listener names the address of REST.",
    )
    add = requests.add_argument
    add("--correlation-id", metavar="N", help="with this correlation id")
    add("--client-id", metavar="ID", help="of clients with this client.id")
    add("--api", metavar="NAME", help="of an API, like Produce")
    add("--errors", action="store_true", help="only failed requests")
    add(
        "--slower",
        type=seconds,
        metavar="TIME",
        help="only requests that took this time, without waiting for records or members",
    )
    add("-n", "--number", type=at_least_one, default=50, metavar="N", help="how many (50)")
    add("-f", "--follow", action="store_true", help="continue with new requests")
    add(
        *("-o", "--output"),
        choices=("table", "json"),
        default="table",
        help="json: one object per line",
    )
    add_admin(requests)
    add_client(requests)
