"""ottla spark requests ..."""

from __future__ import annotations

from interfaces.spark.arguments.common import add_result, command
from interfaces.terminal.values import at_least_one
from interfaces.terminal.words import Commands


def add(commands: Commands) -> None:
    requests = command(
        commands,
        "requests",
        "jobs.requests:run",
        "statistics of the broker's request log",
        "Reads the log of `ottla serve --log-requests all --log-format json`.",
    )
    requests.add_argument("logs", nargs="+", metavar="LOG", help="files or folders; .gz too")
    requests.add_argument(
        "--slowest",
        type=at_least_one,
        default=20,
        metavar="N",
        help="number of requests listed (20)",
    )
    add_result(requests)
