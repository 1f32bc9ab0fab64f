"""`ottla spark requests` has the figures that plain Python has of the same log."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from interfaces.main.arguments import parser
from interfaces.spark.jobs.requests import evaluate, run
from interfaces.spark.query.failures import JobFailed
from tests.e2e.conftest import StartBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def log(start_broker: StartBroker, tmp_path: Path) -> Path:
    broker = start_broker("--log-requests", "all", "--log-format", "json")
    producer = Producer({"bootstrap.servers": broker.bootstrap, "client.id": "shop"})
    for number in range(5):
        producer.produce("orders", f"order {number}")
        producer.flush(10)
    with broker.connect() as client:
        client.fetch("orders", 5, max_wait_ms=250)
        assert client.create_topic("orders", 1) == 36  # it is there: one request fails
    broker.terminate()
    file = tmp_path / "requests [1].log"
    file.write_text(f"not JSON\n{broker.log()}\n")
    return file


def busy_us(line: dict[str, Any]) -> int:
    waited = line["wait_us"] if line["api"] in ("Fetch", "JoinGroup", "SyncGroup") else 0
    return int(line["total_us"] - waited)


def test_the_figures_are_those_of_the_log(
    spark: SparkSession, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    requests = [line for line in lines if line["event"] == "request"]
    report, result_file = tmp_path / "out" / "report.html", tmp_path / "out" / "result.json"
    words = ["spark", "requests", str(log), "--slowest", "3"]
    results = ["--report", str(report), "--json", str(result_file)]
    assert run(parser().parse_args([*words, *results])) == 0

    result: dict[str, Any] = json.loads(result_file.read_text())
    assert result["requests"] == len(requests)
    assert result["failed"] == sum(bool(each["errors"]) for each in requests)
    by_api = {each["api"]: each for each in result["apis"]}
    produced = [each for each in requests if each["api"] == "Produce"]
    assert by_api["Produce"]["requests"] == len(produced) >= 5
    half = statistics.median(each["total_us"] for each in produced)
    assert by_api["Produce"]["busy_us"]["p50"] == pytest.approx(half, abs=1)
    fetched = [each for each in requests if each["api"] == "Fetch"]
    longest = max(each["total_us"] - each["wait_us"] for each in fetched)
    assert by_api["Fetch"]["busy_us"]["max"] == longest
    assert by_api["Fetch"]["total_us"]["max"] >= longest + 200_000
    assert ("shop", len([e for e in requests if e["client_id"] == "shop"])) in [
        (each["client_id"], each["requests"]) for each in result["clients"]
    ]
    refused = {"api": "CreateTopics", "error": "TOPIC_ALREADY_EXISTS"}
    assert {**refused, "requests": 1, "clients": 1} in result["errors"]
    slowest = max(requests, key=busy_us)
    assert len(result["slowest"]) == 3
    assert result["slowest"][0]["correlation_id"] == slowest["correlation_id"]
    assert sum(each["per_second"] for each in result["over_time"]) == pytest.approx(len(requests))
    assert "TOPIC_ALREADY_EXISTS" in report.read_text()
    assert f"{len(requests)} requests" in capsys.readouterr().out


def test_a_log_without_requests_fails_with_the_options_that_log_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    file = tmp_path / "empty.log"
    file.write_text('{"event": "started"}\n')
    with pytest.raises(JobFailed, match="--log-requests all --log-format json"):
        evaluate(spark, [f"file:{tmp_path}/e[m]pty.*"], 3)
