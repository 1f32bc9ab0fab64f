"""A broker under attack: its memory limit, its memory, and a healthy client."""

from __future__ import annotations

import os
import resource
import selectors
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from domain.configs.broker import BrokerConfig
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw_client import RawClient, batch, sealed_part, split_batches
from tests.hostile.promise import persisted_bytes, promised_bytes

PATIENCE_S = 120.0
SAMPLE_S = 0.02
HEALTHY, FULL = "healthy", "full"
KIB, MIB = 1 << 10, 1 << 20

#: Small, so that the suite reaches every limit; each is the formula's, and so is the promise.
SETTINGS = {
    "flush": "os",
    "socket.request.max.bytes": str(2 * MIB),
    "queued.max.request.bytes": str(8 * MIB),
    "queued.max.response.bytes": str(16 * MIB),
    "fetch.max.bytes": str(8 * MIB),
    "request.elements.max": "4000",
    "fetch.partitions.max": "10000",
    "requests.recent.max": "1000",
}


class Attacked:
    def __init__(self, broker: BrokerProcess, config: BrokerConfig) -> None:
        self.broker = broker
        self.config = config
        with broker.connect() as client:
            assert client.create_topic(HEALTHY) == 0
            assert client.create_topic(FULL) == 0

    def fill(self, mebibytes: int) -> None:
        with self.broker.connect() as client:
            for _ in range(mebibytes):
                assert client.produce(FULL, batch([os.urandom(MIB - 500)])).error == 0

    @contextmanager
    def endured(self, connections: int, active: int, **persisted: int) -> Iterator[Endurance]:
        """A healthy client runs meanwhile; at the end the memory is compared with the limit."""
        with Endurance(self.broker) as endured:
            yield endured
        promised = promised_bytes(self.config, connections, active) + persisted_bytes(**persisted)
        print(
            f"\nRssAnon at most {endured.most_bytes / MIB:.0f} MiB of {promised / MIB:.0f} promised"
            f"; {endured.round_trips} healthy round trips"
        )
        assert endured.failure is None, f"the healthy client: {endured.failure!r}"
        assert endured.round_trips, "the healthy client made no round trip"
        assert endured.most_bytes <= promised


class Endurance:
    """Runs round trips of a healthy client and samples the memory of the broker."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._broker = broker
        self._over = threading.Event()
        self._turned = threading.Condition()
        self._threads = [
            threading.Thread(target=self._sample), threading.Thread(target=self._go_round)
        ]  # fmt: skip
        self.most_bytes = 0
        self.round_trips = 0
        self.failure: BaseException | None = None

    def go_on(self, round_trips: int = 20) -> None:
        """Waits for round trips while the attackers stay connected."""
        with self._turned:
            target = self.round_trips + round_trips
            self._turned.wait_for(
                lambda: self.round_trips >= target or self.failure is not None, PATIENCE_S
            )

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, *_failure: object) -> None:
        if kind is None:
            self.go_on()
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _sample(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self.most_bytes = max(self.most_bytes, self._broker.resident_anonymous_kib() * KIB)

    def _go_round(self) -> None:
        sent: list[bytes] = []
        try:
            with self._broker.connect(PATIENCE_S) as client:
                first = client.end_offset(HEALTHY)
                # Once more after the attack.
                while not self._over.is_set() or not sent:
                    sent.append(batch([os.urandom(30)]))
                    report = client.produce(HEALTHY, sent[-1])
                    assert report == (0, first + len(sent) - 1), report
                    found = client.fetch(HEALTHY, report.base_offset, max_bytes=MIB)
                    while not found.records:  # the memory of unread responses is being released
                        found = client.fetch(HEALTHY, report.base_offset, max_bytes=MIB)
                    assert sealed_part(split_batches(found.records)[0][1]) == sealed_part(sent[-1])
                    with self._turned:
                        self.round_trips += 1
                        self._turned.notify_all()
                everything = client.fetch_everything(HEALTHY)
                mine = [sealed_part(one) for offset, one in everything if offset >= first]
                assert mine == [sealed_part(one) for one in sent]
        except (OSError, AssertionError, IndexError, struct.error) as failure:
            with self._turned:
                self.failure = failure
                self._turned.notify_all()


@contextmanager
def connections(broker: BrokerProcess, count: int) -> Iterator[list[RawClient]]:
    with ExitStack() as opened:
        yield [opened.enter_context(broker.connect(PATIENCE_S)) for _ in range(count)]


def send_all_at_once(clients: Sequence[RawClient], frames: Sequence[bytes], idle_s: float) -> int:
    """Sends the frames as fast as the broker reads, until it reads no more; returns how many bytes
    it did not read. An error of a connection ends its sending.
    """
    left = dict(zip(clients, map(memoryview, frames), strict=True))
    with selectors.DefaultSelector() as ready:
        for client in clients:
            client.socket.setblocking(False)
            ready.register(client.socket, selectors.EVENT_WRITE, client)
        while events := ready.select(idle_s) if ready.get_map() else []:
            for key, _ in events:
                client = key.data
                try:
                    left[client] = left[client][client.socket.send(left[client][:MIB]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    left[client] = left[client][:0]
                if not left[client]:
                    ready.unregister(client.socket)
    for client in clients:
        client.socket.settimeout(PATIENCE_S)
    return sum(map(len, left.values()))


def reset(client: RawClient) -> None:
    """Closes the connection by RST: the broker's next write or read fails."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()


def open_files(broker: BrokerProcess) -> int:
    return len(list(Path(f"/proc/{broker.pid}/fd").iterdir()))


def cpu_seconds(broker: BrokerProcess) -> float:
    fields = Path(f"/proc/{broker.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def may_open(count: int) -> bool:
    """Raises this process's limit where that is allowed; a child gets it too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count <= hard or hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= count
