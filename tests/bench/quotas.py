"""What a producer keeps of its rate beside a greedy client, with a quota and without."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.bench.brokers import Broker
from tests.bench.filled import new_topic
from tests.bench.gauges import Figures
from tests.bench.raw_loads import Rawbench, Shape
from tests.bench.runs import Load
from tests.e2e.quotas import set_quota

#: The client id of librdkafka; that of the raw loads is another.
GREEDY = "rdkafka"
BYTES_PER_S = 1_000_000
#: The greedy client uses up what its quota allows at once.
BURST_S = 2
ENDLESS = 10**9
SHAPES = [Shape("1 connection", 1), Shape("10 connections", 10)]


def loads(rawbench: Rawbench, seconds: float) -> Iterator[Load]:
    for shape in SHAPES:
        produce = partial(rawbench.produce, shape=shape, seconds=seconds)
        yield Load(f"others, {shape.name}", partial(_beside, produce=produce))


def _beside(broker: Broker, produce: partial[Figures]) -> Figures:
    alone = produce(broker)["requests_per_s"]
    with _greedy(broker):
        without = produce(broker)["requests_per_s"]
    set_quota(broker, GREEDY, producer_byte_rate=BYTES_PER_S)
    try:
        with _greedy(broker):
            throttled = produce(broker)["requests_per_s"]
    finally:
        set_quota(broker, GREEDY, producer_byte_rate=None)
    return {
        "requests_per_s": alone,
        "kept_share": throttled / alone,
        "kept_without_quota_share": without / alone,
    }


@contextmanager
def _greedy(broker: Broker) -> Iterator[None]:
    words = ["produce", broker.address, new_topic(broker), "--count", str(ENDLESS)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.clients.librdkafka", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(BURST_S)
        yield
    finally:
        process.kill()
        process.wait()
