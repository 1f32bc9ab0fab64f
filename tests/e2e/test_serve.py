"""`ottla serve` on the command line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.e2e.broker_process import ROOT, Address, command, environment
from tests.e2e.conftest import EXTERNAL, StartBroker, new_topic
from tests.e2e.librdkafka import PATIENCE_S, admin
from tests.e2e.raw_client import FETCH, batch, fetch_body

pytestmark = pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker")


def ottla(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=environment() | settings,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def the_one_line(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def addresses(bootstrap: str) -> list[str]:
    """The advertised addresses in the metadata that a client gets there."""
    brokers = admin(bootstrap).list_topics(timeout=PATIENCE_S).brokers
    return [f"{broker.host}:{broker.port}" for broker in brokers.values()]


def test_the_ready_file_names_the_addresses(start_broker: StartBroker) -> None:
    broker = start_broker()
    assert broker.ready["pid"] == broker.pid
    assert broker.ready["data"] == str(broker.folder / "data")
    (listener,) = broker.ready["listeners"]
    assert (listener["name"], listener["host"]) == ("PLAINTEXT", "127.0.0.1")
    assert listener["port"] > 0
    assert addresses(broker.bootstrap) == [broker.bootstrap]


def test_without_settings_data_is_in_the_working_directory(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(engine="default")
    assert broker.ready["data"] == str(broker.folder / "ottla-data")


def test_without_a_terminal_it_logs_json(start_broker: StartBroker) -> None:
    broker = start_broker("--log-requests", "all")
    with broker.connect() as client:
        client.api_versions()
    assert broker.terminate() == 0
    lines = [json.loads(line) for line in broker.log().splitlines()]
    assert [line["event"] for line in lines][-2:] == ["broker_stopping", "broker_stopped"]
    requests = [line for line in lines if line.get("api") == "ApiVersions"]
    assert requests, lines
    assert requests[0]["correlation_id"] == 1


@pytest.mark.parametrize("option", ["--listen", "--admin"])
def test_a_busy_port_is_one_line_and_no_data_folder(tmp_path: Path, option: str) -> None:
    data = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        options = {"--listen": "127.0.0.1:0", option: f"127.0.0.1:{port}"}
        words = (word for one in options.items() for word in one)
        done = ottla("serve", "--data", str(data), *words)
    assert f"127.0.0.1:{port}" in the_one_line(done, 1)
    assert not data.exists()


def test_a_data_folder_in_use_is_one_line(start_broker: StartBroker) -> None:
    broker = start_broker()
    done = ottla("serve", "--storage", broker.storage, "--listen", "127.0.0.1:0")
    line = the_one_line(done, 1)
    assert str(broker.folder / "data") in line
    assert "in use" in line
    assert addresses(broker.bootstrap) == [broker.bootstrap], "the first one goes on"


def test_a_wrong_setting_is_one_line() -> None:
    done = ottla("serve", "--storage", "memory://", KAFKA_NUM_PARTITIONS="many")
    line = the_one_line(done, 2)
    assert "num.partitions" in line
    assert "KAFKA_NUM_PARTITIONS" in line


def test_a_second_sigterm_quits_at_once(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "drain.timeout.ms=60000")
    topic = new_topic(broker)
    with broker.connect() as client:
        for _ in range(8):
            client.produce(topic, batch([bytes(1_000_000)]))
        for _ in range(50):  # unread responses delay the drain
            client.send(FETCH, 4, fetch_body(topic, 0, 0))
        assert broker.process is not None
        broker.process.send_signal(signal.SIGTERM)
        while broker.ready_file.exists():
            assert broker.process.poll() is None
        broker.process.send_signal(signal.SIGTERM)
        assert broker.process.wait(timeout=PATIENCE_S) == -signal.SIGTERM


def test_each_listener_advertises_its_own_address(start_broker: StartBroker) -> None:
    broker = start_broker(
        *("--listen", "INSIDE://127.0.0.1:0", "--listen", "OUTSIDE://127.0.0.1:0"),
        *("--set", "listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT"),
        *("--set", "advertised.listeners=OUTSIDE://broker.example:9999"),
    )
    inside, outside = broker.ready["listeners"]
    assert (inside["name"], outside["name"]) == ("INSIDE", "OUTSIDE")
    reached = Address(inside["host"], inside["port"]).bootstrap
    assert addresses(reached) == [reached]
    assert addresses(f"{outside['host']}:{outside['port']}") == ["broker.example:9999"]


@pytest.mark.parametrize("everywhere", ["0.0.0.0:0", "[::]:0", ":0"])
def test_a_wildcard_listener_advertises_the_address_of_the_connection(
    start_broker: StartBroker, everywhere: str
) -> None:
    broker = start_broker("--listen", everywhere)
    port = broker.ready["listeners"][0]["port"]
    for host in ("127.0.0.1", "127.0.0.2"):
        assert addresses(f"{host}:{port}") == [f"{host}:{port}"]


def test_the_output_can_be_truncated_by_a_pipe() -> None:
    shown = subprocess.Popen(
        command("config", "show"),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with shown:
        assert shown.stdout is not None
        assert shown.stderr is not None
        shown.stdout.close()
        assert shown.stderr.read() == b""
