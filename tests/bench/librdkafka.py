"""librdkafka against a broker: confluent-kafka's producer and consumer, and kcat's consumer."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

from tests.bench.brokers import Broker
from tests.bench.client_process import PATIENCE_S, client
from tests.bench.filled import Filler, Topic, filled, new_topic
from tests.bench.gauges import Figures
from tests.bench.runs import Load, LoadFailed

#: Name, bytes of a value, values in a full run, compressed with lz4.
PRODUCED = [
    ("producer, 100 B", 100, 2_500_000, False),
    ("producer, 1 KB", 1000, 600_000, False),
    ("producer, 10 KB", 10_000, 60_000, False),
    ("producer, 1 KB, lz4", 1000, 800_000, True),
]


def loads(topic: Topic, filler: Filler, scale: float) -> Iterator[Load]:
    def fill(broker: Broker) -> None:
        filled(broker, topic, filler)

    for name, size, count, lz4 in PRODUCED:
        yield Load(name, _producer(size, int(count * scale), lz4))
    count = int(1_200_000 * scale)
    yield Load(
        "consumer, 1 KB",
        lambda broker: client(
            "librdkafka", "consume", broker.address, topic.name, "--count", count
        ),
        fill,
    )
    if shutil.which("kcat"):
        yield Load("consumer, 1 KB, kcat", lambda broker: _kcat(broker, topic), fill)


def _producer(size: int, count: int, lz4: bool) -> Callable[[Broker], Figures]:
    def run(broker: Broker) -> Figures:
        topic = new_topic(broker)
        options = ["--size", size, "--count", count, *(["--lz4"] if lz4 else [])]
        return client("librdkafka", "produce", broker.address, topic, *options)

    return run


def _kcat(broker: Broker, topic: Topic) -> Figures:
    """Reads the whole topic once; the time includes the start of the process."""
    started = time.perf_counter()
    done = subprocess.run(
        [
            *("kcat", "-C", "-q", "-b", broker.address, "-t", topic.name, "-p", "0"),
            *("-o", "beginning", "-e", "-u", "-f", "%S\n"),
        ],
        capture_output=True,
        timeout=PATIENCE_S,
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        raise LoadFailed(done.stderr.decode(errors="replace")[-2000:])
    mb = done.stdout.count(b"\n") * 1000 / 1e6
    if mb < topic.size_bytes // 16_000 * 16_000 / 1e6:
        raise LoadFailed(f"kcat read {mb} MB")
    return {"mb": mb, "seconds": seconds, "mb_per_s": mb / seconds}
