"""Brokers to measure: Ottla, or Apache Kafka from a folder of jars, each a process of its own."""

from __future__ import annotations

import copy
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.e2e.raw_client import RawClient
from tests.fakes.postgres import Postgres
from tests.oracle.kafka import format_folder, format_nodes, free_port

READY_TIMEOUT_S = 120
_POLL_S = 0.002
#: The raw listener among the listeners of a broker.
RAW = "raw stream"
_OUTPUT_BYTES = 2_000
_JAVA = ("java", "-Xms1g", "-Xmx1g")
#: A new group does not wait for more members, as in Ottla.
_GROUPS = "group.initial.rebalance.delay.ms=0\n"
_EVERY_MESSAGE, _NEVER = 1, 2**63 - 1


class BrokerFailed(Exception):
    """The broker did not start, or died; holds the end of its output."""


class Broker:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        listeners: dict[str, str],
        ready_s: float,
        folder: Path,
        others: Sequence[Broker] = (),
        servers: Sequence[int] = (),
    ) -> None:
        """`others` are further nodes of its cluster, `servers` the processes of its database."""
        self.process = process
        self._others, self._servers = others, servers
        #: Addresses by name, that of the plaintext listener first.
        self.listeners = listeners
        self.address = next(iter(listeners.values()))
        self.port = _port_of(self.address)
        #: Loads encrypt what they send to `address`.
        self.tls = False
        self.ready_s = ready_s
        self.folder = folder
        #: Names of the topics that loads read.
        self.filled: set[str] = set()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def nodes(self) -> list[Broker]:
        return [self, *self._others]

    @property
    def pids(self) -> list[int]:
        """All processes whose CPU counts, its own first."""
        return [*(node.pid for node in self.nodes), *self._servers]

    def at(self, listener: str, tls: bool = False) -> Broker:
        """The same broker for loads, at another listener."""
        other = copy.copy(self)
        other.address, other.tls = self.listeners[listener], tls
        return other

    def connect(self) -> RawClient:
        return RawClient("127.0.0.1", self.port)

    def alive(self) -> bool:
        return all(node.process.poll() is None for node in self.nodes)

    def output(self) -> str:
        return _output(self.folder)

    def kill(self) -> None:
        for node in self.nodes:
            node.process.kill()
            node.process.wait()

    def stop(self) -> None:
        if self._others:  # a node waits for the others
            return self.kill()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


class Contender:
    """A way to run a broker: `prepare` a folder once, then `start` on it any number of times."""

    def __init__(
        self,
        name: str,
        start: Callable[[Path], Broker],
        prepare: Callable[[Path], None] = lambda folder: None,
        warm_up_share: float = 0.1,
    ) -> None:
        self.name = name
        self.start = start
        self._prepare = prepare
        #: Share of the longest warm-up time that this broker needs.
        self.warm_up_share = warm_up_share

    @property
    def family(self) -> str:
        return self.name.split()[0]

    def prepare(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._prepare(folder)


def _in_folder(folder: Path) -> Sequence[str]:
    return "--data", f"{folder}/data"


def ottla(
    flush: str,
    *options: str,
    name: str = "ottla",
    listen: Sequence[str] = ("127.0.0.1:0",),
    place: Callable[[Path], Sequence[str]] = _in_folder,
    server: Postgres | None = None,
) -> Contender:
    def start(folder: Path) -> Broker:
        ready = folder / "ready.json"
        ready.unlink(missing_ok=True)
        started = time.perf_counter()
        process = _spawn(
            folder,
            *(sys.executable, "-m", "interfaces.main", "serve"),
            *(word for one in listen for word in ("--listen", one)),
            *("--ready-file", str(ready), *place(folder), "--flush", flush),
            *("--log-requests", "off", "--admin", "off"),
            *options,
        )
        _wait(process, ready.exists, folder)
        facts = json.loads(ready.read_text())
        found = facts["listeners"]
        listeners = {one["name"]: f"127.0.0.1:{one['port']}" for one in found}
        listeners |= dict(zip([RAW], facts["raw"], strict=False))
        port = found[0]["port"]
        _wait(process, lambda: _responds(port), folder)
        ready_s, pids = time.perf_counter() - started, server.pids if server else ()
        return Broker(process, listeners, ready_s, folder, servers=pids)

    return Contender(f"{name} {flush}", start)


def ottla_in_postgres(flush: str, server: Postgres, name: str = "ottla-postgresql") -> Contender:
    """The whole store. Each new one gets its own schema."""
    numbers = itertools.count(1)

    def place(folder: Path) -> Sequence[str]:
        url = f"postgresql://postgres@/postgres?host={server.folder}"
        return "--storage", f"{url}&schema=whole_{flush}{next(numbers)}"

    return ottla(flush, name=name, place=place, server=server)


def ottla_with_postgres(flush: str, server: Postgres) -> Contender:
    """Each new store gets its own schema."""
    numbers = itertools.count(1)

    def start(folder: Path) -> Broker:
        schema = f"{flush}{next(numbers)}"
        server.execute(f"CREATE SCHEMA {schema}")
        return ottla(flush, "--set", f"offsets={server.url(schema)}").start(folder)

    return Contender(f"ottla-postgres {flush}", start)


def kafka(libs: Path, flush: str, more: str = "", listen: Sequence[str] = ()) -> Contender:
    """`more` properties, one a line; names of further listeners."""
    java = [*_JAVA, "-cp", f"{libs}/*"]

    def prepare(folder: Path) -> None:
        every = _EVERY_MESSAGE if flush == "commit" else _NEVER
        properties = f"log.flush.interval.messages={every}\n{_GROUPS}{more}"
        listeners = [f"{name}://127.0.0.1:{free_port()}" for name in listen]
        with _output_of_failures():
            format_folder(java, folder.absolute(), properties, listeners)

    def start(folder: Path) -> Broker:
        return start_kafka(libs, [folder])

    return Contender(f"kafka {flush}", start, prepare, warm_up_share=1)


def kafka_nodes(libs: Path, count: int = 3) -> Contender:
    """A cluster: an acknowledged record is in the page cache of two nodes, or of all."""
    java = [*_JAVA, "-cp", f"{libs}/*"]

    def prepare(folder: Path) -> None:
        with _output_of_failures():
            format_nodes(java, folder.absolute(), _GROUPS + "min.insync.replicas=2\n", count)

    def start(folder: Path) -> Broker:
        return start_kafka(libs, [folder / str(node) for node in range(1, count + 1)])

    return Contender(f"kafka {count} nodes", start, prepare, warm_up_share=count)


@contextmanager
def _output_of_failures() -> Iterator[None]:
    try:
        yield
    except subprocess.CalledProcessError as failed:
        output = (failed.stdout + failed.stderr)[-_OUTPUT_BYTES:]
        raise BrokerFailed(f"{' '.join(failed.cmd)}:\n{output}") from failed


def start_kafka(libs: Path, folders: Sequence[Path]) -> Broker:
    """Returns the first node; the others are of its cluster."""
    java = [*_JAVA, "-cp", f"{libs}/*"]
    started = time.perf_counter()
    nodes: list[Broker] = []
    for folder in reversed(folders):
        properties = folder / "server.properties"
        [line] = re.findall("^listeners=(.*)", properties.read_text(), re.MULTILINE)
        listeners = dict(one.split("://") for one in line.split(","))
        process = _spawn(folder, *java, "kafka.Kafka", str(properties))
        nodes.insert(0, Broker(process, listeners, 0, folder, others=list(nodes)))
    try:
        for node in nodes:
            _wait(node.process, partial(_responds, node.port, len(nodes)), node.folder)
    except BaseException:
        nodes[0].kill()
        raise
    nodes[0].ready_s = time.perf_counter() - started
    return nodes[0]


def _port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def _spawn(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OTTLA_", "KAFKA_"))}
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=env
        )


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    try:
        while not ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise BrokerFailed(f"The broker did not start:\n{_output(folder)}")
            time.sleep(_POLL_S)
    except BaseException:  # also when it is interrupted
        process.kill()
        process.wait()
        raise


def _output(folder: Path) -> str:
    output = folder / "output"
    return output.read_bytes()[-_OUTPUT_BYTES:].decode(errors="replace") if output.exists() else ""


def _responds(port: int, nodes: int = 1) -> bool:
    """Whether Metadata lists the brokers; Kafka opens its port earlier."""
    try:
        with RawClient("127.0.0.1", port, patience_s=5) as client:
            _throttle, brokers = client.request(3, 4, b"\0\0\0\0\0").take("ii")
            return brokers >= nodes
    except OSError:
        return False
