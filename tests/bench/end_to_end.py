"""Latency from a producer to a consumer, at a steady pace and back to back."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.brokers import Broker
from tests.bench.client_process import client
from tests.bench.filled import new_topic
from tests.bench.gauges import Figures
from tests.bench.runs import Load

PER_SECOND = 500


def loads(seconds: float) -> Iterator[Load]:
    paced = int(seconds * PER_SECOND)
    yield Load(f"{PER_SECOND} a second", lambda broker: _run(broker, paced, PER_SECOND))
    # A count, not a time: quantiles of equally many records are comparable.
    yield Load("back to back", lambda broker: _run(broker, paced * 2, 0))


def _run(broker: Broker, count: int, per_second: float) -> Figures:
    options = ["--count", count, "--per-second", per_second]
    return client("meter", broker.address, new_topic(broker), *options)
