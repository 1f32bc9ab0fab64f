"""Masters other than local: executors are processes of their own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interfaces.spark.java import java_home
from interfaces.spark.session import root
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.spark.kafka.topics import fill

pytestmark = pytest.mark.long

RECORDS = 1_000
PATIENCE_S = 60


@pytest.fixture(params=["local-cluster[2,2,1024]", "standalone"])
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("pyspark", reason="needs Spark")
    if request.param != "standalone":
        yield request.param
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    at = ("--host", "127.0.0.1", "--webui-port", "0")
    worker = (*at, "--cores", "3", "--memory", "1g", "--work-dir", str(tmp_path / "work"), address)
    with (
        daemon(tmp_path, "master.Master", "elected leader", *at, "--port", str(port)),
        daemon(tmp_path, "worker.Worker", "Successfully registered", *worker),
    ):
        yield address


@contextmanager
def daemon(folder: Path, name: str, ready: str, *words: str) -> Iterator[None]:
    """A daemon of Spark, as an administrator starts it: without our environment."""
    import pyspark

    home = Path(pyspark.__file__).parent
    java = java_home(os.environ, folder)
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *words],
            env={"PATH": os.defpath, "JAVA_HOME": str(java), "SPARK_HOME": str(home)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE_S
        while ready not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.05)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_S)


def test_every_job_runs_where_executors_are_other_processes(master: str, tmp_path: Path) -> None:
    logging = ("--log-requests", "all", "--log-format", "json")
    with BrokerProcess(tmp_path / "broker", "lmdb", logging) as broker:
        topic = new_topic(broker, 2)
        fill(broker.bootstrap, topic, [b"%d" % each for each in range(RECORDS)])
        log = tmp_path / "requests.log"
        log.write_text(broker.log(1 << 20))
        data = str(tmp_path / "broker" / "data")
        words = [broker.bootstrap, data, str(log), str(tmp_path), topic]
        ended = subprocess.run(
            [sys.executable, "-m", "tests.e2e.spark.on_master", master, *words],
            cwd=root(),
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert ended.returncode == 0, ended.stderr[-3000:]

    results: list[Any] = [json.loads((tmp_path / f"{job}.json").read_text()) for job in range(6)]
    perf, archive, restore, over_the_wire, folder, requests = results
    verified = perf["verification"]
    assert verified["right"]
    assert verified["received"] == verified["sent"] > 0
    assert archive["records"] == restore["records"] == RECORDS
    for analyzed in (over_the_wire, folder):
        assert [each["records"] for each in analyzed["topics"]] == [RECORDS]
    assert requests["requests"] > 0
