"""ottla import ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_broker_store, add_dry_run, add_output
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    kinds = family(commands, "import", "import the data of another broker; stop both first")
    kafka = command(
        kinds,
        "kafka",
        "kafka_import.command:import_kafka",
        "import the log folder of a stopped Apache Kafka 4 of one node",
        "Topics, records, groups, offsets, transactions, users, ACLs, quotas and configs. DIR is "
        "only read. If the import is killed, start it again: it continues.",
    )
    kafka.add_argument("folder", metavar="DIR", help="a folder of Kafka's log.dirs")
    add_broker_store(kafka)
    add_dry_run(kafka)
    kafka.add_argument(
        "--skip-unsupported",
        action="store_true",
        help="import the rest if something cannot be imported",
    )
    kafka.add_argument(
        "--cut-tails",
        action="store_true",
        help="after a crash of Kafka: end each log before the first bytes of its last segment that "
        "are no whole batch",
    )
    add_output(kafka)
