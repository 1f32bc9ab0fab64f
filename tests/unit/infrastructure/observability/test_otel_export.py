from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread

import pytest

from application.metrics.families.family import Reading, Source
from infrastructure.observability.collecting import Collector
from infrastructure.observability.otel_export import OtelExport
from tests.fakes.broker import FakeBroker
from tests.fakes.logs import FakeEventLog

INTERVAL_MS = 1000
PATIENCE_S = 30


class Exporting:
    """Calls from threads are queued until the test runs them."""

    def __init__(self, endpoint: str, sources: Sequence[Source] = ()) -> None:
        fake = FakeBroker()
        self.scheduler = fake.scheduler
        self.events = FakeEventLog()
        self.from_threads: SimpleQueue[Callable[[], None]] = SimpleQueue()
        collector = Collector(sources, fake.broker.background)
        OtelExport(
            collector, self.scheduler, self.from_threads.put, fake.clock, self.events, endpoint,
            INTERVAL_MS, {"service.name": "ottla"},
        ).start()  # fmt: skip

    def once(self) -> None:
        """Runs the next export."""
        self.scheduler.advance(INTERVAL_MS)
        self.from_threads.get(timeout=PATIENCE_S)()


@pytest.fixture
def no_http() -> Iterator[str]:
    """The URL of a server that does not speak HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                connection, _ = listening.accept()
                with connection:
                    if connection.recv(1) == b"":
                        return
                    connection.sendall(b"I speak something else\r\n\r\n")
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass

        server = Thread(target=serve)
        server.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1/metrics"
        socket.create_connection(listening.getsockname()).close()
        server.join(PATIENCE_S)


def test_unreadable_metrics_are_logged_and_the_next_export_is_sent(no_http: str) -> None:
    faults = [MemoryError("no room")]

    def source() -> Iterator[Reading]:
        if faults:
            raise faults.pop()
        yield from ()

    exporting = Exporting(no_http, [source])
    exporting.scheduler.advance(INTERVAL_MS)
    [line] = exporting.events.of("metrics_failed")
    assert isinstance(line["error"], MemoryError)
    exporting.once()


def test_a_response_that_is_no_http_is_logged_once_and_the_next_export_is_sent(
    no_http: str,
) -> None:
    exporting = Exporting(no_http)
    for _ in range(2):
        exporting.once()
    [line] = exporting.events.of("metrics_export_failed")
    assert line["error"] == "I speak something else\r\n"
