"""Metrics that the broker exports to an OpenTelemetry collector."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from tests.e2e.broker_process import BrokerProcess

PATIENCE_S = 30


class Export:
    """One request of the broker."""

    def __init__(self, headers: Any, body: bytes) -> None:
        self.content_type = headers["content-type"]
        [of_resource] = Parse(body, ExportMetricsServiceRequest()).resource_metrics
        attributes = of_resource.resource.attributes
        self.resource = {one.key: one.value.string_value for one in attributes}
        self.all = [one for scope in of_resource.scope_metrics for one in scope.metrics]

    def metric(self, name: str) -> Metric | None:
        return next((one for one in self.all if one.name == name), None)


class Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        #: Of the next responses; then 200.
        self.statuses: list[int] = []
        self.exports: queue.SimpleQueue[Export] = queue.SimpleQueue()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.exports.put(Export(self.headers, body))
                self.send_response(collector.statuses.pop(0) if collector.statuses else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Writes nothing to stderr."""

        super().__init__(("127.0.0.1", 0), Handler)

    def settings(self) -> list[str]:
        url = f"http://127.0.0.1:{self.server_port}/v1/metrics"
        return ["--set", f"otel.endpoint={url}", "--set", "otel.interval.ms=100"]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        yield collector
        collector.shutdown()
        thread.join()


def offset_points(export: Export) -> list[Any]:
    metric = export.metric("kafka_topic_partition_current_offset")
    return list(metric.gauge.data_points) if metric else []


def test_a_collector_gets_the_metrics_of_a_scrape(collector: Collector, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, "lmdb", collector.settings()) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for _ in range(5):
            producer.produce("t", value=b"x", partition=0)
        assert producer.flush(PATIENCE_S) == 0
        export = collector.exports.get(timeout=PATIENCE_S)
        while [point.as_int for point in offset_points(export)] != [5]:
            export = collector.exports.get(timeout=PATIENCE_S)
        assert broker.terminate() == 0, broker.log()
    assert export.content_type == "application/json"
    assert export.resource["service.name"] == "ottla"
    [point] = offset_points(export)
    labels = {one.key: one.value.string_value for one in point.attributes}
    assert labels == {"topic": "t", "partition": "0"}
    messages = export.metric("kafka_server_brokertopicmetrics_messagesin_total")
    assert messages and messages.sum.is_monotonic
    assert messages.sum.data_points[0].as_int == 5
    commits = export.metric("ottla_commit_duration_seconds")
    assert commits
    [histogram] = commits.histogram.data_points
    assert histogram.count == sum(histogram.bucket_counts) > 0
    assert len(histogram.bucket_counts) == len(histogram.explicit_bounds) + 1
    assert histogram.start_time_unix_nano < histogram.time_unix_nano


def test_a_collector_that_fails_is_logged_once_and_retried(
    collector: Collector, tmp_path: Path
) -> None:
    collector.statuses += [503, 503]
    with BrokerProcess(tmp_path, "memory", collector.settings()) as broker:
        for _ in range(4):
            collector.exports.get(timeout=PATIENCE_S)
        assert broker.terminate() == 0
        log = broker.log()
    assert log.count("metrics_export_failed") == 1
    assert "HTTP 503" in log
    assert log.count("metrics_export_recovered") == 1
