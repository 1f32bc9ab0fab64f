"""ottla spark analyze ..."""

from __future__ import annotations

import argparse
import re

from interfaces.spark.arguments.common import add_result, command
from interfaces.terminal.values import at_least_one
from interfaces.terminal.words import Commands, add_broker

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?)b?|b)?", re.IGNORECASE)
_POWERS = "kmgtp"


def add(commands: Commands) -> None:
    analyze = command(
        commands,
        "analyze",
        "jobs.analyze.analysis:run",
        "statistics of topics: sizes, keys, batches, timestamps, disk forecast",
        "Reads a data folder (--data), with or without a running broker, or any Kafka broker; over "
        "the wire there are no statistics of batches and compression.",
    )
    analyze.add_argument(
        "topics", nargs="*", metavar="TOPIC", help="default with --data: all topics"
    )
    analyze.add_argument("--data", metavar="FOLDER", help="data folder of an Ottla broker")
    add_broker(analyze)
    analyze.add_argument(
        "--hot-keys",
        type=at_least_one,
        default=10,
        metavar="N",
        help="number of keys listed for each topic (10)",
    )
    analyze.add_argument(
        "--disk",
        type=size,
        metavar="SIZE",
        help="forecast when a disk of that size is full: 500GB (10^9), 2TiB (2^40)",
    )
    add_result(analyze)


def size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size like 500GB or 2TiB")
    number, letter, binary = found.groups()
    power = _POWERS.index(letter.lower()) + 1 if letter else 0
    whole = int(float(number) * (1024 if binary else 1000) ** power)
    if whole < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than a byte")
    return whole
