"""ottla export ..."""

from __future__ import annotations

from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    exports = family(commands, "export", "write the data of a stopped broker for another one")
    kafka = command(
        exports,
        "kafka",
        "kafka_export.command:export",
        "write a data folder into a log folder of Apache Kafka 4",
        "The log folder is new, formatted by `kafka-storage format` with the cluster id of the "
        "store. Topics with their ids, configs and records, committed offsets, users, ACLs and "
        "quotas are written.",
    )
    kafka.add_argument("folder", metavar="DIR", help="the log folder of Kafka (log.dirs)")
    kafka.add_argument(
        "--data", default="ottla-data", metavar="DIR", help="the data folder (./ottla-data)"
    )
