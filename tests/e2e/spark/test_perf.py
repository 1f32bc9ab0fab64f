"""`ottla spark perf` on a small scale: every record is there, and the result says so."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from interfaces.main.arguments import parser
from interfaces.spark.jobs.perf.job import WORSE, run
from interfaces.spark.running import run as run_command
from interfaces.terminal.endings import USAGE
from tests.e2e.broker_process import BrokerProcess

SMALL = ("--duration", "2s", "--warm-up", "500ms", "--producers", "1", "--consumers", "1")


def perf(servers: str, *words: str) -> int:
    return run(parser().parse_args(["spark", "perf", "-b", servers, *words]))


@pytest.mark.usefixtures("spark")
def test_a_run_and_one_that_is_compared_with_it(
    servers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report = tmp_path / "result.json", tmp_path / "report.html"
    words = (*SMALL, "--rate", "2000", "--size", "200", "--keys", "ZIPF")
    assert perf(servers, *words, "--json", str(file), "--report", str(report)) == 0

    result: dict[str, Any] = json.loads(file.read_text())
    verified = result["verification"]
    assert verified["right"] and verified["sent"] == verified["expected"] == verified["received"]
    assert verified["sent"] == pytest.approx(2000 * 2.5, rel=0.2)
    assert result["meanPublishRate"] == pytest.approx(2000, rel=0.3)
    assert len(result["publishRate"]) == len(result["backlog"]) == 2
    assert sum(result["recordsPerPartition"]["published"].values()) == verified["sent"]
    for name in ("aggregatedPublishLatency", "aggregatedEndToEndLatency"):
        places = [result[f"{name}{ending}"] for ending in ("50pct", "99pct", "9999pct", "Max")]
        assert places[0] > 0 and places == sorted(places)
    assert result["generatorCeiling"]["recordsPerSecond"] > 2000
    assert "0 lost, 0 doubled, 0 disordered, 0 spoiled" in report.read_text()
    assert "0 lost, 0 doubled, 0 disordered, 0 spoiled" in capsys.readouterr().out
    left = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).topics
    assert not [name for name in left if name.startswith("ottla-perf-")]

    better = {**result, "meanPublishRate": result["meanPublishRate"] * 3}
    file.write_text(json.dumps(better))
    assert perf(servers, *words, "--against", str(file)) == WORSE
    assert "WORSE" in capsys.readouterr().out


@pytest.mark.usefixtures("spark")
def test_more_tasks_than_cores_are_refused_in_a_line(
    servers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["spark", "perf", "-b", servers, "--producers", "3"]
    assert run_command(parser().parse_args(words)) == USAGE
    assert capsys.readouterr().err.startswith("ottla: 5 tasks at once need as many cores of Spark")


@pytest.mark.usefixtures("spark")
def test_a_broker_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["spark", "perf", "-b", "127.0.0.1:1", *SMALL]
    assert run_command(parser().parse_args(words)) == 1
    assert capsys.readouterr().err == "ottla: no broker at 127.0.0.1:1: connection refused\n"


@pytest.mark.usefixtures("spark")
def test_a_broker_that_is_killed_in_mid_run_is_told_soon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BrokerProcess(tmp_path / "broker", "memory") as broker:
        servers = broker.bootstrap
        words = ["spark", "perf", "-b", servers, *SMALL, "--rate", "500", "--patience", "1s"]
        killer = threading.Thread(target=_kill_once_it_is_written_to, args=(broker,))
        killer.start()
        code = run_command(parser().parse_args(words))
        killer.join()
    assert code == 1
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == (
        "ottla: not all was acknowledged within 1 s after the end: producer 0: "
        f"no broker at {servers}: connection refused"
    )


def _kill_once_it_is_written_to(broker: BrokerProcess) -> None:
    client = AdminClient({"bootstrap.servers": broker.bootstrap})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        names = [n for n in client.list_topics(timeout=10).topics if n.startswith("ottla-perf-")]
        spec: Any = OffsetSpec
        places: Any = [TopicPartition(name, each) for name in names for each in range(4)]
        if places:
            asked = client.list_offsets({place: spec.latest() for place in places})
            if any(answer.result(10).offset > 0 for answer in asked.values()):
                break
        time.sleep(0.05)
    broker.kill()
