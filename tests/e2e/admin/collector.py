"""A collector of OpenTelemetry's, as far as a broker can tell: it takes what is posted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric


class Collected:
    """One request."""

    def __init__(self, headers: dict[str, str], body: bytes) -> None:
        self.headers = headers
        self.message = Parse(body, ExportMetricsServiceRequest())

    @property
    def resource(self) -> dict[str, str]:
        [of] = self.message.resource_metrics
        return {one.key: one.value.string_value for one in of.resource.attributes}

    def metrics(self, name: str) -> list[Metric]:
        [of] = self.message.resource_metrics
        return [one for scope in of.scope_metrics for one in scope.metrics if one.name == name]


class FakeCollector:
    def __init__(self) -> None:
        #: What the next requests are answered with; then 200.
        self.statuses: list[int] = []
        self.requests: queue.SimpleQueue[Collected] = queue.SimpleQueue()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.requests.put(Collected(dict(self.headers.items()), body))
                self.send_response(collector.statuses.pop(0) if collector.statuses else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Not to stderr."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1/metrics"


@contextmanager
def fake_collector() -> Iterator[FakeCollector]:
    collector = FakeCollector()
    thread = threading.Thread(target=collector.server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        collector.server.shutdown()
        thread.join()
        collector.server.server_close()
