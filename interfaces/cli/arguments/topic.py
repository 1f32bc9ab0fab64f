"""ottla topic ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import (
    add_client,
    add_dry_run,
    add_output,
    add_yes,
    partition_numbers,
)
from interfaces.cli.arguments.configs import add_config, config
from interfaces.cli.arguments.records import (
    add_compression,
    add_consume_options,
    add_selection,
)
from interfaces.terminal.values import at_least_one
from interfaces.terminal.words import Commands, Parser, command, family

_WARNS = "Prints a warning for a config without effect in an Ottla broker."


def add(commands: Commands) -> None:
    topics = family(commands, "topic", "create, describe, change and delete topics")
    create = command(topics, "create", "topic:create", "create topics", _WARNS)
    _names(create)
    create.add_argument(
        *("-p", "--partitions"),
        type=at_least_one,
        metavar="N",
        help="number of partitions (the default of the broker)",
    )
    create.add_argument(
        *("-r", "--replication-factor"),
        type=at_least_one,
        metavar="N",
        help="number of replicas (the default of the broker)",
    )
    _configs(create)
    create.add_argument(
        "--if-not-exists", action="store_true", help="an existing topic is not an error"
    )
    add_dry_run(create)
    add_client(create)

    listed = command(topics, "list", "topic:list_topics", "list topics")
    listed.add_argument("pattern", nargs="?", help="a regular expression for names")
    listed.add_argument(
        *("-d", "--detailed"),
        action="store_true",
        help="with the number of offsets (records, and gaps of compaction) and the size of all "
        "replicas in bytes",
    )
    listed.add_argument("--internal", action="store_true", help="internal topics, too")
    add_output(listed)
    add_client(listed)

    describe = command(
        topics,
        "describe",
        "topic:describe",
        "partitions, offsets, retention, compaction and configs",
        "WARNING lines (`warnings` in JSON) name configs without effect in an Ottla broker.",
    )
    _names(describe)
    add_output(describe)
    add_client(describe)

    add_config(topics, "topic", _WARNS)

    more = command(topics, "add-partitions", "topic:add_partitions", "add partitions to topics")
    _names(more)
    more.add_argument(
        *("-n", "--num"), type=at_least_one, required=True, metavar="N", help="how many to add"
    )
    add_dry_run(more)
    add_client(more)

    _add_copies(topics)

    trim = command(
        topics,
        "trim",
        "topic_trim:trim",
        "delete the records before an offset",
        "The counterpart of kafka-delete-records. Without -p, of all partitions. "
        "Alias: trim-prefix.",
        aliases=["trim-prefix"],
    )
    trim.add_argument("name", metavar="TOPIC")
    trim.add_argument(
        *("-o", "--offset"),
        required=True,
        metavar="OFFSET",
        help="the new start: end, 47, +2, -3 (before the end), or @TIMESTAMP",
    )
    _partitions(trim)
    add_dry_run(trim)
    add_yes(trim)
    add_client(trim)

    delete = command(topics, "delete", "topic:delete", "delete topics with all records")
    _names(delete)
    delete.add_argument("--if-exists", action="store_true", help="a missing topic is not an error")
    add_yes(delete)
    add_client(delete)


def _add_copies(topics: Commands) -> None:
    tail = command(
        topics,
        "tail",
        "consume:consume",
        "print new records",
        "`ottla consume` from the end of the log.",
    )
    add_consume_options(tail)
    tail.set_defaults(offset="end")

    download = command(
        topics,
        "download",
        "topic_copies:download",
        "write the records to a file",
        "Up to the current end, as the lines of JSON that `ottla produce --json-lines` takes.",
    )
    # What `consume` has as options.
    as_json = {"output": "json", "format": None, "exit": True, "idle": None, "wait": None}
    download.add_argument("topics", nargs=1, metavar="TOPIC")
    download.add_argument(
        "file", metavar="FILE", help="must not exist; it is there when complete (- : stdout)"
    )
    add_selection(download)
    add_client(download)
    download.set_defaults(**as_json)

    clone = command(
        topics,
        "clone",
        "topic_copies:clone",
        "copy a topic with its configs and records",
        "Over the wire, from and to any broker's topic: same partitions, keys, headers and "
        "timestamps; offsets begin at 0. If it fails, the new topic is deleted.",
    )
    clone.add_argument("topics", nargs=1, metavar="TOPIC")
    clone.add_argument("target", metavar="NEW", help="must not exist")
    _configs(clone)
    clone.add_argument("--no-records", action="store_true", help="configs and partitions only")
    add_compression(clone)
    add_client(clone)
    everything = {"offset": "start", "partitions": None, "isolation": "read_committed"}
    clone.set_defaults(**as_json, **everything, acks="all")


def _configs(parser: Parser) -> None:
    parser.add_argument(
        *("-c", "--config"),
        action="append",
        type=config,
        metavar="KEY=VALUE",
        help="a topic config, like max.message.bytes=2097152; repeatable",
    )


def _names(parser: Parser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOPIC")


def _partitions(parser: Parser) -> None:
    parser.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
