"""Metrics that the broker sends by itself."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer

from tests.e2e.admin.collector import Collected, FakeCollector, fake_collector
from tests.e2e.broker_process import BrokerProcess

PATIENCE_S = 30


def first_with(records: int, collector: FakeCollector) -> Collected:
    """Some may have been made before, however late they come."""
    while True:
        sent = collector.requests.get(timeout=PATIENCE_S)
        for metric in sent.metrics("kafka_topic_partition_current_offset"):
            if [point.as_int for point in metric.gauge.data_points] == [records]:
                return sent


def test_a_collector_is_sent_what_a_scrape_would_tell(tmp_path: Path) -> None:
    with fake_collector() as collector:
        arguments = ["--set", f"otel.endpoint={collector.url}", "--set", "otel.interval.ms=100"]
        with BrokerProcess(tmp_path, "lmdb", arguments) as broker:
            producer = Producer({"bootstrap.servers": broker.bootstrap})
            for _ in range(5):
                producer.produce("t", value=b"x", partition=0)
            assert producer.flush(PATIENCE_S) == 0
            sent = first_with(5, collector)
            assert broker.terminate() == 0, broker.log()
    assert sent.headers["Content-Type"] == "application/json"
    assert sent.resource["service.name"] == "ottla"
    [offsets] = sent.metrics("kafka_topic_partition_current_offset")
    [point] = offsets.gauge.data_points
    labels = {one.key: one.value.string_value for one in point.attributes}
    assert (labels, point.as_int) == ({"topic": "t", "partition": "0"}, 5)
    [messages] = sent.metrics("kafka_server_brokertopicmetrics_messagesin_total")
    assert messages.sum.is_monotonic and messages.sum.data_points[0].as_int == 5
    [commits] = sent.metrics("ottla_commit_duration_seconds")
    [histogram] = commits.histogram.data_points
    assert histogram.count == sum(histogram.bucket_counts) > 0
    assert len(histogram.bucket_counts) == len(histogram.explicit_bounds) + 1
    assert histogram.start_time_unix_nano < histogram.time_unix_nano


def test_a_collector_that_refuses_is_told_of_once_and_tried_again(tmp_path: Path) -> None:
    with fake_collector() as collector:
        collector.statuses += [503, 503]
        arguments = ["--set", f"otel.endpoint={collector.url}", "--set", "otel.interval.ms=100"]
        with BrokerProcess(tmp_path, "memory", arguments) as broker:
            for _ in range(4):
                collector.requests.get(timeout=PATIENCE_S)
            assert broker.terminate() == 0
            log = broker.log()
    assert log.count("metrics_export_failed") == 1
    assert "HTTP 503" in log
    assert log.count("metrics_export_recovered") == 1
