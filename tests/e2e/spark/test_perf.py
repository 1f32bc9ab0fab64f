"""`ottla spark perf` against a broker."""

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
from interfaces.spark.jobs.perf.comparing import _COMPARED as COMPARED
from interfaces.spark.jobs.perf.job import WORSE, run
from interfaces.spark.jobs.perf.workload import load
from interfaces.spark.running import run as run_command
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.spark.test_command import environment, spark_command

OURS = "ottla-perf-"
FEW = ("--warm-up", "500ms", "--producers", "1", "--consumers", "1")
RIGHT = "0 lost, 0 doubled, 0 disordered, 0 spoiled"


def perf(servers: str, *words: str) -> int:
    return run(parser().parse_args(["spark", "perf", "-b", servers, *words]))


@pytest.mark.usefixtures("spark")
def test_a_run_verifies_each_record_and_is_compared_with_an_earlier_one(
    servers: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_each = {"producersPerTopic": 1, "consumerPerSubscription": 1}
    workload = load(None, producerRate=2000.0, messageSize=200, keyDistributor="ZIPF", **one_each)
    earlier = {"settings": workload.to_json(), **{name: 1e6 for name, *_ in COMPARED}}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    file, report = tmp_path / "result.json", tmp_path / "report.html"
    words = (*FEW, "--duration", "2s", "--rate", "2000", "--size", "200", "--keys", "ZIPF")
    results = ("--json", str(file), "--report", str(report), "--name", "a run & another")
    against = ("--against", str(tmp_path / "earlier.json"))
    assert perf(servers, *words, *results, *against) == WORSE

    result: dict[str, Any] = json.loads(file.read_text())
    verified = result["verification"]
    assert verified["right"] and verified["sent"] == verified["expected"] == verified["received"]
    assert verified["sent"] == pytest.approx(2000 * 2.5, rel=0.2)
    assert 0 < result["meanPublishRate"] < 5000
    assert len(result["publishRate"]) == len(result["backlog"]) == 2
    assert sum(result["recordsPerPartition"]["published"].values()) == verified["sent"]
    for name in ("aggregatedPublishLatency", "aggregatedEndToEndLatency"):
        places = [result[f"{name}{ending}"] for ending in ("50pct", "99pct", "9999pct", "Max")]
        assert places[0] > 0 and places == sorted(places)
    assert result["generatorCeiling"]["recordsPerSecond"] > 2000
    text = report.read_text()
    assert f"<td>{servers}</td>" in text and "<h1>Throughput: a run &amp; another</h1>" in text
    assert not [path for path in (tmp_path, Path.cwd(), Path.home()) if str(path) in text]
    assert len(text) < 100_000
    printed = capsys.readouterr().out
    assert RIGHT in text and RIGHT in printed and "WORSE" in printed
    left = AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).topics
    assert not [name for name in left if name.startswith(OURS)]


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_run_fails_after_its_patience_when_the_broker_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BrokerProcess(tmp_path / "broker", "memory") as broker:
        servers = broker.bootstrap
        words = ["spark", "perf", "-b", servers, *FEW, "--rate", "500", "--patience", "1s"]
        with once_records_arrive(broker, broker.kill):
            code = run_command(parser().parse_args([*words, "--duration", "1h"]))
    assert code == 1
    assert re.fullmatch(
        rf"ottla: nothing was acknowledged for 1 s: no broker at {servers}: connection refused; "
        r"topics of this run are left there \(ottla-perf-\w+-0\)\n",
        capsys.readouterr().err,
    )


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_run_continues_when_the_broker_restarts_within_its_patience(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    with BrokerProcess(tmp_path / "broker") as broker:

        def restart() -> None:
            broker.kill()
            broker.start()

        words = (*FEW, "--rate", "500", "--duration", "5s", "--json", str(file))
        with once_records_arrive(broker, restart):
            assert perf(broker.bootstrap, *words) == 0
    result = json.loads(file.read_text())
    assert result["verification"]["right"] and not result["verification"]["unknown"]
    assert sum(rate > 0 for rate in result["publishRate"]) >= 2


@pytest.mark.long
def test_ctrl_c_and_sigterm_delete_the_topics_of_a_run(servers: str) -> None:
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
def once_records_arrive(broker: BrokerProcess, act: Callable[[], None]) -> Iterator[None]:
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
    ends = client.list_offsets({place: spec.latest() for place in places}) if places else {}
    return sorted({of.topic for of, end in ends.items() if end.result(10).offset > 0})
