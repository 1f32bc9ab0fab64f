"""Kafka Connect: a worker goes on from its compacted topics, and a source writes exactly once."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import test_java
from tests.e2e.broker_process import wait_until
from tests.e2e.conftest import StartBrokers
from tests.e2e.librdkafka import assigned_consumer, read_to_end
from tests.oracle.kafka import free_port

PATIENCE_S = 60.0
STORES = ("config", "offset", "status")
#: With one partition, and compacted soon.
_STORE = """
{0}.storage.topic=connect-{0}
{0}.storage.replication.factor=1
{0}.storage.segment.ms=1
{0}.storage.min.cleanable.dirty.ratio=0.01
"""
_WORKER = """
bootstrap.servers={bootstrap}
group.id=connect
listeners=http://127.0.0.1:{port}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
plugin.discovery=service_load
offset.flush.interval.ms=100
offset.storage.partitions=1
status.storage.partitions=1
"""
#: Members that die leave the group soon, and their tasks move at once. A worker that starts reads
#: its topics to the end, so it waits until the open transaction of a killed one is aborted.
_EXACTLY_ONCE = """
exactly.once.source.support=enabled
session.timeout.ms=1500
heartbeat.interval.ms=500
scheduled.rebalance.max.delay.ms=0
producer.transaction.timeout.ms=5000
"""
#: Lines between two deaths, and how many of them are in a transaction.
_LINES, _PER_TRANSACTION = 2_000, 10
#: A worker that rebalances does not respond.
_REST_S = 10.0
#: The connector reads a KiB, and passes on what is left of it when the file grows.
_HELD_BACK = 256
_QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
_SOURCE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "topic": "lines",
    "topic.creation.default.partitions": "1",
    "topic.creation.default.replication.factor": "1",
}
_SINK = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
    "topics": "lines",
}


class Worker:
    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.kill = process.kill
        self._url = f"http://127.0.0.1:{port}"

    def request(self, method: str, path: str, body: dict[str, str] | None = None) -> Any:
        """The parsed body; None while the worker starts or rebalances."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_REST_S) as response:
                return json.loads(response.read() or b"null")
        except urllib.error.HTTPError as failure:
            if failure.code in (404, 409):
                return None
            raise
        except (urllib.error.URLError, TimeoutError):
            return None

    def configure(self, connector: str, config: dict[str, str]) -> None:
        path = f"/connectors/{connector}/config"
        wait_until(lambda: self.request("PUT", path, config), PATIENCE_S)

    def runs(self, connector: str) -> bool:
        status = self.request("GET", f"/connectors/{connector}/status")
        states = [task["state"] for task in status["tasks"]] if status else []
        assert "FAILED" not in states, status
        return states == ["RUNNING"]

    def goes_on(self, connector: str) -> None:
        """Raises if a task has failed, but for a race in the Java client 4.2.

        Its sender may look for batches just before a transaction begins, and then send EndTxn ahead
        of them. INVALID_TXN_STATE, also Kafka's response, ends the task; operators restart it.
        """
        status = self.request("GET", f"/connectors/{connector}/status")
        failed = [task for task in status["tasks"] if task["state"] == "FAILED"] if status else []
        for task in failed:
            assert "InvalidTxnStateException" in task["trace"], status
            self.request("POST", f"/connectors/{connector}/tasks/{task['id']}/restart")

    def position(self) -> int:
        """In the file, from the topic of offsets."""
        found = self.request("GET", "/connectors/source/offsets")["offsets"]
        return found[0]["offset"]["position"] if found else 0


@pytest.mark.long
@pytest.mark.timeout(180)
def test_a_connect_worker_goes_on_after_its_topics_are_compacted(
    start_brokers: StartBrokers, tmp_path: Path
) -> None:
    brokers = start_brokers("--set", "log.cleaner.backoff.ms=200")
    port, file, copy = free_port(), tmp_path / "file", tmp_path / "copy"
    properties = _worker_properties(tmp_path, brokers.bootstrap, port)
    file.write_text("")
    with _running(properties, port) as worker:
        for number in range(5):  # the last one counts
            worker.configure(
                "source", _SOURCE | {"file": str(file), "batch.size": f"{1000 + number}"}
            )
            worker.configure("sink", _SINK | {"file": str(copy)})
            _append(file, copy, f"line {number}\n" * 100)
        wait_until(lambda: worker.position() == file.stat().st_size)

    for store in STORES:
        wait_until(partial(_has_gaps, brokers.bootstrap, f"connect-{store}"))
    with _running(properties, port) as worker:
        for connector in ("source", "sink"):
            wait_until(partial(worker.runs, connector))
        assert worker.position() == file.stat().st_size
        assert worker.request("GET", "/connectors/source")["config"]["batch.size"] == "1004"
        _append(file, copy, "after the restart\n")
    brokers.terminate()
    assert "Traceback" not in brokers.log(sys.maxsize)


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_source_connector_writes_exactly_once(
    start_brokers: StartBrokers, tmp_path: Path
) -> None:
    settings = {
        "group.min.session.timeout.ms": 500,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
    }
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    brokers = start_brokers(*words)
    port, file = free_port(), tmp_path / "file"
    properties = _worker_properties(tmp_path, brokers.bootstrap, port, _EXACTLY_ONCE)
    brokers.create_topic("lines")
    config = {"file": str(file), "batch.size": f"{_PER_TRANSACTION}"}
    lines: list[str] = []
    found: list[str] = []
    level = {"isolation_level": "read_committed", "reconnect_backoff_max_ms": 200}

    def has_read(end: int) -> bool:
        records = consumer.consume(100, 0.1)
        found.extend((one.value() or b"").decode() for one in records if one.error() is None)
        return len(found) >= end

    with assigned_consumer(brokers.bootstrap, "lines", **level) as consumer:
        for dying in ("worker", *brokers.all, "worker", None):
            more = [f"{len(lines) + number}" for number in range(_LINES)]
            with file.open("a") as text:
                text.writelines(f"{line}\n" for line in more)
            lines += more
            with _running(properties, port) as worker:
                worker.configure("source", _SOURCE | config | {"exactly.once.support": "required"})

                def goes_on(end: int, worker: Worker = worker) -> bool:
                    if has_read(end):
                        return True
                    worker.goes_on("source")
                    return False

                wait_until(partial(goes_on, len(found) + _LINES // 4), PATIENCE_S)
                if dying == "worker":
                    worker.kill()
                    continue
                if isinstance(dying, int):
                    brokers.restart(dying)
                wait_until(partial(goes_on, len(lines) - _HELD_BACK), PATIENCE_S)
        while has_read(len(found) + 1):
            pass
    assert found == lines[: len(found)]
    brokers.terminate()
    assert "Traceback" not in brokers.log(sys.maxsize)


def _worker_properties(folder: Path, bootstrap: str, port: int, more: str = "") -> Path:
    properties = folder / "worker.properties"
    stores = "".join(map(_STORE.format, STORES))
    properties.write_text(_WORKER.format(bootstrap=bootstrap, port=port) + stores + more)
    return properties


@contextmanager
def _running(properties: Path, port: int) -> Iterator[Worker]:
    *java, _ = test_java.compiled(test_java.VERSIONS[0], test_java.STREAMS, test_java.APPLICATIONS)
    log = properties.with_name("worker.log")
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*java, _QUIET, "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Worker(port, process)
        process.terminate()
        process.wait(PATIENCE_S)
    except BaseException:
        print(log.read_text()[-8_000:])
        raise
    finally:
        process.kill()
        process.wait()


def _append(file: Path, copy: Path, lines: str) -> None:
    """Waits until both connectors have passed them on, each once."""
    with file.open("a") as text:
        text.write(lines)
    wait_until(lambda: copy.exists() and len(copy.read_text()) >= len(file.read_text()))
    assert copy.read_text() == file.read_text()


def _has_gaps(bootstrap: str, topic: str) -> bool:
    messages = read_to_end(bootstrap, topic)
    return len(messages) <= (messages[-1].offset() or 0)
