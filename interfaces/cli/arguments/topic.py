"""ottla topic ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import (
    add_client,
    add_dry_run,
    add_output,
    add_yes,
    partition_numbers,
)
from interfaces.terminal.values import at_least_one, key_value
from interfaces.terminal.words import Commands, Parser, command, family

_WARNS = "A config that has no effect in an Ottla broker is named in a line on stderr."


def add(commands: Commands) -> None:
    topics = family(commands, "topic", "create, look at, change, empty and delete topics")
    create = command(topics, "create", "topic:create", "create topics", _WARNS)
    _names(create)
    create.add_argument(
        *("-p", "--partitions"),
        type=at_least_one,
        metavar="N",
        help="how many partitions (what the broker has as default)",
    )
    create.add_argument(
        *("-r", "--replication-factor"),
        type=at_least_one,
        metavar="N",
        help="how many replicas (what the broker has as default)",
    )
    create.add_argument(
        *("-c", "--config"),
        action="append",
        type=key_value,
        metavar="KEY=VALUE",
        help="a topic config, like max.message.bytes=2097152",
    )
    create.add_argument(
        "--if-not-exists", action="store_true", help="a topic that is there is as good"
    )
    add_dry_run(create)
    add_client(create)

    listed = command(topics, "list", "topic:list_topics", "list topics")
    listed.add_argument("pattern", nargs="?", help="only names that match this regular expression")
    listed.add_argument("--internal", action="store_true", help="internal topics too")
    add_output(listed)
    add_client(listed)

    describe = command(
        topics,
        "describe",
        "topic:describe",
        "partitions, offsets and configs",
        "WARNING lines, and `warnings` in JSON and YAML, name the configs that are set and have no "
        "effect in an Ottla broker.",
    )
    _names(describe)
    add_output(describe)
    add_client(describe)

    _add_config(topics)

    trim = command(
        topics,
        "trim",
        "topic_trim:trim",
        "delete the oldest records",
        "Without -p of all partitions. What lies before the offset is gone for good.",
    )
    trim.add_argument("name", metavar="TOPIC")
    trim.add_argument(
        *("-o", "--offset"),
        required=True,
        metavar="OFFSET",
        help="what lies before is deleted: end, 47, +2, -3 (of the end), or @TIMESTAMP",
    )
    _partitions(trim)
    add_dry_run(trim)
    add_yes(trim)
    add_client(trim)

    delete = command(topics, "delete", "topic:delete", "delete topics with all they hold")
    _names(delete)
    delete.add_argument("--if-exists", action="store_true", help="one that is not there is as good")
    add_yes(delete)
    add_client(delete)


def _add_config(topics: Commands) -> None:
    configs = family(topics, "config", "look at and change the configs of topics")
    get = command(
        configs,
        "get",
        "topic_config:get",
        "the configs of a topic",
        "EFFECT is yes, in part or none, as the documentation says that an Ottla broker gives of "
        "its configs; of any other broker it is yes.",
    )
    get.add_argument("name", metavar="TOPIC")
    get.add_argument("keys", nargs="*", metavar="KEY", help="only these")
    get.add_argument("--set-only", action="store_true", help="only what was set for this topic")
    add_output(get)
    add_client(get)
    put = command(configs, "set", "topic_config:put", "set configs of a topic", _WARNS)
    put.add_argument("name", metavar="TOPIC")
    put.add_argument("values", nargs="+", type=key_value, metavar="KEY=VALUE")
    add_dry_run(put)
    add_client(put)
    unset = command(configs, "unset", "topic_config:unset", "let configs have their default again")
    unset.add_argument("name", metavar="TOPIC")
    unset.add_argument("keys", nargs="+", metavar="KEY")
    add_dry_run(unset)
    add_client(unset)


def _names(parser: Parser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOPIC")


def _partitions(parser: Parser) -> None:
    parser.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="only these partitions",
    )
