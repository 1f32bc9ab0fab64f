"""The load generator in rawbench/: sends requests over raw sockets and uses little CPU."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.bench.brokers import RAW, Broker, Contender
from tests.bench.filled import Topic, filled, new_topic
from tests.bench.gauges import Figures
from tests.bench.runs import Load, LoadFailed

SOURCE = Path(__file__).parent / "rawbench"
#: Timeout for a run that hangs.
PATIENCE_S = 60


class NoRawbench(Exception):
    """The load generator is not available; says why."""


@dataclass(frozen=True)
class Shape:
    name: str
    connections: int
    in_flight: int = 1
    records: int = 1
    record_bytes: int = 1000
    #: Each connection sends to so many partitions in turn.
    partitions: int = 1
    #: Share of the time of a run: large batches fill memory and disk.
    share: float = 1.0


PRODUCE = [
    Shape("1 connection", 1),
    Shape("10 connections", 10),
    Shape("10 x 5 in flight", 10, 5),
    Shape("10 x 5 in flight, 20 partitions in turn", 10, 5, partitions=20),
    Shape("200 connections", 200),
    Shape("16 KB batches, 4 x 5", 4, 5, records=16),
    Shape("900 KB batches, 2 x 3", 2, 3, records=900, share=0.5),
]
FSYNC = [
    Shape("1 connection", 1),
    Shape("10 connections", 10),
    Shape("50 x 2 in flight", 50, 2),
    Shape("16 KB batches, 4 x 5", 4, 5, records=16),
]
FETCH = {"1 MB responses": 1 << 20, "16 KB responses": 17_000}


class Rawbench:
    def __init__(self, cache: Path) -> None:
        if shutil.which("go") is None:
            raise NoRawbench("the load generator needs Go, which is not on the PATH")
        self._binary = (cache / "rawbench").absolute()
        subprocess.run(["go", "build", "-o", str(self._binary), "."], cwd=SOURCE, check=True)

    def produce_loads(self, shapes: list[Shape], seconds: float) -> list[Load]:
        return [
            Load(shape.name, partial(self.produce, shape=shape, seconds=seconds))
            for shape in shapes
        ]

    def fetch_loads(self, topic: Topic, seconds: float) -> list[Load]:
        return [
            Load(
                name,
                partial(self.fetch, topic=topic.name, max_bytes=size, seconds=seconds),
                partial(filled, topic=topic, filler=self),
            )
            for name, size in FETCH.items()
        ]

    def warm_up(self, contender: Contender, broker: Broker, seconds: float) -> None:
        """A mixed load before the measurements: JIT compilers and caches warm up."""
        topic = Topic("warm-up", 1, 16 << 20)
        filled(broker, topic, self)
        share = seconds * contender.warm_up_share / 6
        for shape in (PRODUCE[0], PRODUCE[2], PRODUCE[3], PRODUCE[5]):
            self.produce(broker, shape, share, warm_s=0)
        for size in FETCH.values():
            self.fetch(broker, topic.name, size, share, warm_s=0)

    def produce(
        self, broker: Broker, shape: Shape, seconds: float, warm_s: float | None = None
    ) -> Figures:
        seconds *= shape.share
        warm_s = seconds / 4 if warm_s is None else warm_s
        # Waits for the leader: Kafka names the leader of a new topic before it leads.
        topic = new_topic(broker, shape.partitions)
        return self._run(
            broker,
            *("-topic", topic, "-partitions", str(shape.partitions), "-spread"),
            *("-conns", str(shape.connections), "-depth", str(shape.in_flight)),
            *("-records", str(shape.records), "-size", str(shape.record_bytes)),
            *("-secs", str(seconds), "-warm", str(warm_s)),
        )

    def fetch(
        self,
        broker: Broker,
        topic: str,
        max_bytes: int,
        seconds: float,
        warm_s: float | None = None,
        committed: bool = False,
        connections: int = 1,
    ) -> Figures:
        warm_s = seconds / 4 if warm_s is None else warm_s
        return self._run(
            broker,
            *(("-committed",) if committed else ()),
            *("-fetch", "-topic", topic, "-max-bytes", str(max_bytes)),
            *("-conns", str(connections)),
            *("-secs", str(seconds), "-warm", str(warm_s)),
        )

    def stream(self, broker: Broker, size: int, depth: int, seconds: float) -> Figures:
        """A raw producer; a request is a record."""
        return self._run(
            broker.at(RAW),
            *("-stream", "-conns", "1", "-depth", str(depth), "-size", str(size)),
            *("-secs", str(seconds), "-warm", str(seconds / 4)),
        )

    def fill_stream(self, broker: Broker, size: int, records: int) -> None:
        self._run(
            broker,
            *("-stream", "-conns", "1", "-depth", "1024", "-size", str(size)),
            *("-requests", str(records), "-secs", str(PATIENCE_S * 4), "-warm", "0"),
        )

    def follow(self, broker: Broker, readers: int, stream_bytes: int, seconds: float) -> Figures:
        """Raw consumers from the start of the stream; a request is a read from the socket."""
        return self._run(
            broker.at(RAW),
            *("-stream", "-stream-bytes", str(stream_bytes), "-conns", str(readers)),
            *("-secs", str(seconds), "-warm", str(seconds / 4)),
        )

    def transactions(
        self, broker: Broker, topic: Topic, producers: int, records: int, *options: str
    ) -> Figures:
        """Transactions of one batch with so many records of 1 KB; a request is a transaction."""
        return self._run(
            broker,
            *("-transactions", "-topic", topic.name, "-partitions", str(topic.partitions)),
            *("-conns", str(producers), "-records", str(records), "-size", "1000", *options),
        )

    def handshakes(self, broker: Broker, count: int, seconds: float) -> Figures:
        """A request is a connection that ends after its TLS handshake."""
        return self._connections(broker, count, seconds, "-handshakes")

    def logins(self, broker: Broker, login: str, count: int, seconds: float) -> Figures:
        """A request is a connection that ends after its login: `MECHANISM:USER:PASSWORD`."""
        return self._connections(broker, count, seconds, "-login", login)

    def _connections(self, broker: Broker, count: int, seconds: float, *options: str) -> Figures:
        times = "-secs", str(seconds), "-warm", str(seconds / 4)
        return self._run(broker, *options, "-conns", str(count), *times)

    def exchange(self, broker: Broker, exchanges: Path, count: int, seconds: float) -> Figures:
        """Each connection repeats its requests of the file, and checks the responses there."""
        return self._run(
            broker,
            *("-exchanges", str(exchanges.absolute()), "-conns", str(count)),
            *("-secs", str(seconds), "-warm", str(seconds / 4)),
        )

    def fill(self, broker: Broker, topic: Topic) -> None:
        requests = topic.size_bytes // 16_000
        self._run(
            broker,
            *("-topic", topic.name, "-partitions", str(topic.partitions)),
            *("-conns", str(max(4, topic.partitions)), "-depth", "3"),
            *("-records", "16", "-size", "1000", "-requests", str(requests)),
            *("-secs", str(PATIENCE_S * 4), "-warm", "0"),
        )

    def _run(self, broker: Broker, *arguments: str) -> Figures:
        done = subprocess.run(
            [
                *(self._binary, "-addr", broker.address),
                *("-pid", ",".join(map(str, broker.pids))),
                *(("-tls",) if broker.tls else ()),
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S * 5,
        )
        if done.returncode:
            raise LoadFailed(f"{done.stdout}{done.stderr}"[-2000:])
        figures: Figures = json.loads(done.stdout)
        if figures["failed"]:
            raise LoadFailed(f"{figures['failed']} requests were refused")
        return figures
