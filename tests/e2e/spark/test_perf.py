"""`ottla spark perf` against a broker: every record is verified, and the result has it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from interfaces.main.arguments import parser
from interfaces.spark.jobs.perf.job import WORSE, run
from interfaces.spark.running import run as run_command
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.spark.test_command import environment, spark_command

OURS = "ottla-perf-"
FEW = ("--warm-up", "500ms", "--producers", "1", "--consumers", "1")
NAME = "a run & another"
SMALL = ("--duration", "2s", *FEW)


def perf(servers: str, *words: str) -> int:
    return run(parser().parse_args(["spark", "perf", "-b", servers, *words]))


@pytest.mark.usefixtures("spark")
def test_a_run_and_one_that_is_compared_with_it(
    servers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report = tmp_path / "result.json", tmp_path / "report.html"
    words = (*SMALL, "--rate", "2000", "--size", "200", "--keys", "ZIPF", "--name", NAME)
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
    text = report.read_text()
    assert "0 lost, 0 doubled, 0 disordered, 0 spoiled" in text
    assert f"<td>{servers}</td>" in text and "<h1>Throughput: a run &amp; another</h1>" in text
    assert not [path for path in (tmp_path, Path.cwd(), Path.home()) if str(path) in text]
    assert len(text) < 100_000
    assert "0 lost, 0 doubled, 0 disordered, 0 spoiled" in capsys.readouterr().out
    left = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).topics
    assert not [name for name in left if name.startswith(OURS)]

    better = {**result, "meanPublishRate": result["meanPublishRate"] * 3}
    file.write_text(json.dumps(better))
    assert perf(servers, *words, "--against", str(file)) == WORSE
    assert "WORSE" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_broker_that_is_killed_in_mid_run_is_given_up_long_before_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BrokerProcess(tmp_path / "broker", "memory") as broker:
        servers = broker.bootstrap
        words = ["spark", "perf", "-b", servers, *FEW, "--rate", "500", "--patience", "1s"]
        with once_it_is_written_to(broker, broker.kill):
            code = run_command(parser().parse_args([*words, "--duration", "1h"]))
    assert code == 1
    assert re.fullmatch(
        rf"ottla: nothing was acknowledged for 1 s: no broker at {servers}: connection refused; "
        r"topics of this run are left there \(ottla-perf-\w+-0\)\n",
        capsys.readouterr().err,
    )


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_broker_that_starts_again_in_mid_run_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    with BrokerProcess(tmp_path / "broker") as broker:

        def again() -> None:
            broker.kill()
            broker.start()

        words = (*FEW, "--rate", "500", "--duration", "5s", "--json", str(file))
        with once_it_is_written_to(broker, again):
            assert perf(broker.bootstrap, *words) == 0
    result = json.loads(file.read_text())
    assert result["verification"]["right"] and not result["verification"]["unknown"]
    assert sum(rate > 0 for rate in result["publishRate"]) >= 2


@pytest.mark.long
def test_ctrl_c_and_sigterm_leave_no_topics_there(servers: str) -> None:
    """In processes of their own, side by side: each starts a Spark."""
    pytest.importorskip("pyspark", reason="needs Spark")
    client = AdminClient({"bootstrap.servers": servers})
    words = ["perf", "-b", servers, *FEW, "--rate", "500", "--duration", "1h"]
    started = [
        subprocess.Popen(
            spark_command(*words),
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        while len(written_to(client)) < 2:
            assert all(each.poll() is None for each in started), "one ended before its signal"
        ended = []
        for each, by in zip(started, (signal.SIGINT, signal.SIGTERM), strict=True):
            each.send_signal(by)
            ended.append((each.communicate(timeout=60)[1], each.returncode))
    finally:
        for each in started:
            each.kill()
    assert ended == [("ottla: interrupted\n", 130), ("ottla: ended by SIGTERM\n", 143)]
    assert not [name for name in client.list_topics(timeout=10).topics if name.startswith(OURS)]


@contextmanager
def once_it_is_written_to(broker: BrokerProcess, act: Callable[[], None]) -> Iterator[None]:
    def wait() -> None:
        client = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        while not written_to(client):
            pass
        act()

    acting = threading.Thread(target=wait, daemon=True)
    acting.start()
    yield
    acting.join(30)
    assert not acting.is_alive()


def written_to(client: AdminClient) -> list[str]:
    """Topics of runs that have records; looks ten times a second."""
    client.poll(0.1)
    names = [name for name in client.list_topics(timeout=10).topics if name.startswith(OURS)]
    spec: Any = OffsetSpec
    places: Any = [TopicPartition(name, each) for name in names for each in range(4)]
    asked = client.list_offsets({place: spec.latest() for place in places}) if places else {}
    return sorted({of.topic for of, answer in asked.items() if answer.result(10).offset > 0})
