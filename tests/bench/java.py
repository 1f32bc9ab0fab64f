"""The Java client against a broker: Kafka's own ProducerPerformance, a consumer with `assign`, and
Kafka's ConsumerPerformance and EndToEndLatency, all in one process that stays warm."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.bench.brokers import Broker
from tests.bench.filled import Filler, Topic, filled, new_topic
from tests.bench.gauges import Figures
from tests.bench.runs import Load, LoadFailed
from tests.e2e.line_process import LineProcess

SOURCE = Path(__file__).parent / "java" / "Clients.java"

#: Name, bytes of a value, values in a full run.
PRODUCED = [
    ("producer, 100 B", 100, 1_000_000),
    ("producer, 1 KB", 1000, 200_000),
    ("producer, 10 KB", 10_000, 20_000),
]
CONSUMED_BYTES = 1_200_000_000
#: Of the topic that is read.
RECORD_BYTES = 1000
LATENCIES = 2_500


class NoJava(Exception):
    """The Java client is not available; says why."""


class JavaClients:
    def __init__(self, libs: Path, cache: Path) -> None:
        for tool in ("java", "javac"):
            if shutil.which(tool) is None:
                raise NoJava(f"no {tool} on the PATH")
        classes = cache / "java"
        classpath = f"{libs}/*"
        compiled = subprocess.run(
            ["javac", "-d", str(classes), "-cp", classpath, str(SOURCE)],
            capture_output=True,
            text=True,
        )
        if compiled.returncode:
            raise NoJava(compiled.stderr[-2000:])
        self._command = ["java", "-Xmx512m", "-cp", f"{classes}:{classpath}", "Clients"]
        self._log = cache / "java.log"
        self._process: LineProcess | None = None

    def request(self, *words: object) -> Figures:
        if self._process is None:
            self._process = LineProcess(self._command, self._log)
        try:
            response = json.loads(self._process.request(" ".join(map(str, words))))
        except (AssertionError, OSError) as failure:
            # A late response must not be read as the next one's.
            self._process.process.kill()
            self.close()
            raise LoadFailed(f"the Java client: {failure}") from None
        if "wrong" in response:
            raise LoadFailed(response["wrong"][:2000])
        figures: Figures = response
        return figures

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def loads(clients: JavaClients, topic: Topic, filler: Filler, scale: float) -> Iterator[Load]:
    size_bytes = int(CONSUMED_BYTES * scale)
    in_a_group = topic.size_bytes // RECORD_BYTES // 16 * 16
    warm = set[int]()

    def warm_up(broker: Broker) -> None:
        """Warms up the client too: its JIT compiler needs seconds."""
        filled(broker, topic, filler)
        if broker.pid not in warm:
            warm.add(broker.pid)
            for _name, size, count in PRODUCED:
                clients.request(
                    "produce", broker.address, new_topic(broker), int(count * scale), size
                )
            clients.request("consume", broker.address, topic.name, size_bytes)
            clients.request("group", broker.address, topic.name, in_a_group, "classic")

    for name, size, count in PRODUCED:
        yield Load(name, _producer(clients, size, int(count * scale)), warm_up)
    yield Load(
        "consumer, 1 KB",
        lambda broker: clients.request("consume", broker.address, topic.name, size_bytes),
        warm_up,
    )
    for protocol in ("classic", "consumer"):
        yield Load(
            f"ConsumerPerformance, 1 KB, group.protocol={protocol}",
            partial(_in_a_group, clients, topic, in_a_group, protocol),
            warm_up,
        )


def latency_loads(clients: JavaClients, scale: float) -> Iterator[Load]:
    count = max(500, int(LATENCIES * scale))
    yield Load(
        "Kafka's EndToEndLatency, mean",
        lambda broker: clients.request("latency", broker.address, new_topic(broker), count),
    )


def _in_a_group(
    clients: JavaClients, topic: Topic, records: int, protocol: str, broker: Broker
) -> Figures:
    return clients.request("group", broker.address, topic.name, records, protocol)


def _producer(clients: JavaClients, size: int, count: int) -> Callable[[Broker], Figures]:
    return lambda broker: clients.request("produce", broker.address, new_topic(broker), count, size)
