"""ottla perf ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client
from interfaces.terminal.values import at_least_one, not_negative
from interfaces.terminal.words import Commands, Parser, command, family


def add(commands: Commands) -> None:
    perf = family(commands, "perf", "measure throughput and latency, as Kafka's own tools do")
    produce = command(
        perf,
        "produce",
        "perf.produce:produce",
        "measure producer throughput",
        "Prints the lines of kafka-producer-perf-test.",
    )
    _add_topic(produce)
    _add_number(produce, 100_000)
    _add_size(produce)
    produce.add_argument(
        "--rate",
        type=not_negative,
        default=0,
        metavar="N",
        help="records per second (0: unlimited)",
    )
    produce.add_argument(
        "--acks", choices=("0", "1", "all"), default="all", help="required acknowledgements (all)"
    )
    add_client(produce)

    consume = command(
        perf,
        "consume",
        "perf.consume:consume",
        "measure consumer throughput",
        "Prints the lines of kafka-consumer-perf-test, with times that are local as there.",
    )
    _add_topic(consume)
    _add_number(consume, 100_000)
    consume.add_argument("-g", "--group", metavar="GROUP", help="consumer group (a new one)")
    add_client(consume)

    e2e = command(
        perf,
        "e2e",
        "perf.e2e:e2e",
        "measure end-to-end latency",
        "One record at a time; prints the lines of kafka-e2e-latency. The topic has to "
        "exist, and no other client may produce to it.",
    )
    _add_topic(e2e)
    _add_number(e2e, 10_000)
    _add_size(e2e)
    e2e.add_argument(
        "--acks", choices=("1", "all"), default="all", help="required acknowledgements (all)"
    )
    add_client(e2e)


def _add_topic(parser: Parser) -> None:
    parser.add_argument("topic", metavar="TOPIC")


def _add_number(parser: Parser, number: int) -> None:
    parser.add_argument(
        *("-n", "--number"),
        type=at_least_one,
        default=number,
        metavar="N",
        help=f"how many records ({number})",
    )


def _add_size(parser: Parser) -> None:
    parser.add_argument(
        *("-s", "--size"),
        type=at_least_one,
        default=100,
        metavar="BYTES",
        help="record size (100)",
    )
