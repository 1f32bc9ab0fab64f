"""ottla txn ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import (
    add_client,
    add_output,
    add_yes,
    partition_numbers,
    seconds,
)
from interfaces.terminal.values import not_negative
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    transactions = family(
        commands,
        "txn",
        "transactions: list, describe and abort them, find hanging ones",
        "The counterpart of kafka-transactions.",
    )
    listed = command(transactions, "list", "txn:list_transactions", "list transactional ids")
    listed.add_argument("pattern", nargs="?", help="a regular expression for transactional ids")
    listed.add_argument(
        "--duration-filter",
        type=seconds,
        metavar="TIME",
        help="only transactions that are open for longer",
    )
    add_output(listed)
    add_client(listed)

    describe = command(
        transactions, "describe", "txn:describe", "state, producer and partitions of transactions"
    )
    describe.add_argument("names", nargs="+", metavar="TRANSACTIONAL_ID")
    add_output(describe)
    add_client(describe)

    producers = command(
        transactions, "describe-producers", "txn_partitions:producers", "producers of a partition"
    )
    producers.add_argument("topic", metavar="TOPIC")
    producers.add_argument("partition", type=not_negative, metavar="PARTITION")
    add_output(producers)
    add_client(producers)

    hanging = command(
        transactions,
        "find-hanging",
        "txn_partitions:find_hanging",
        "open transactions of partitions that no coordinator will end",
    )
    hanging.add_argument("topics", nargs="*", metavar="TOPIC", help="of these topics (all)")
    hanging.add_argument(
        *("-p", "--partitions"),
        type=partition_numbers,
        metavar="0,2-3",
        help="these partitions only",
    )
    hanging.add_argument(
        "--max-transaction-timeout",
        type=seconds,
        default=15 * 60.0,
        metavar="TIME",
        help="transaction.max.timeout.ms of the broker: younger ones are skipped (15m)",
    )
    add_output(hanging)
    add_client(hanging)

    abort = command(
        transactions,
        "abort",
        "txn:abort",
        "abort the transaction of a transactional id, or a hanging one in a partition",
        "The producer of the transactional id is fenced.",
    )
    abort.add_argument("name", nargs="?", metavar="TRANSACTIONAL_ID")
    abort.add_argument(*("-t", "--topic"), metavar="TOPIC", help="of a hanging transaction")
    abort.add_argument(
        *("-p", "--partition"),
        type=not_negative,
        metavar="PARTITION",
        help="of a hanging transaction",
    )
    abort.add_argument(
        "--start-offset",
        type=not_negative,
        metavar="OFFSET",
        help="first offset of a hanging transaction, as find-hanging prints it",
    )
    add_yes(abort)
    add_client(abort)
