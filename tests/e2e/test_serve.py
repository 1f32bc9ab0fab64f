"""`ottla serve` and its neighbours, as somebody types them."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.e2e.broker_process import ROOT, Address, BrokerProcess, command, environment
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
    """Where a client that asked there is told to go."""
    brokers = admin(bootstrap).list_topics(timeout=PATIENCE_S).brokers
    return [f"{broker.host}:{broker.port}" for broker in brokers.values()]


def test_the_ready_file_says_where_clients_can_go(start_broker: StartBroker) -> None:
    broker = start_broker()
    assert broker.ready["pid"] == broker.pid
    assert broker.ready["data"] == str(broker.folder / "data")
    (listener,) = broker.ready["listeners"]
    assert (listener["name"], listener["host"]) == ("PLAINTEXT", "127.0.0.1")
    assert listener["port"] > 0
    assert addresses(broker.bootstrap) == [broker.bootstrap]


def test_without_settings_it_keeps_its_data_where_it_was_started(
    start_broker: StartBroker,
) -> None:
    broker = start_broker(engine="default")
    assert broker.ready["data"] == str(broker.folder / "ottla-data")


def test_the_ready_file_goes_when_the_broker_does(start_broker: StartBroker) -> None:
    broker = start_broker()
    assert broker.terminate() == 0
    assert not broker.ready_file.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_zero(
    start_broker: StartBroker, number: signal.Signals
) -> None:
    broker = start_broker()
    assert broker.process is not None
    broker.process.send_signal(number)
    assert broker.process.wait(timeout=PATIENCE_S) == 0


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


def test_a_data_folder_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = ottla("serve", "--data", str(tmp_path / "file"), "--listen", "127.0.0.1:0")
    assert str(tmp_path / "file") in the_one_line(done, 1)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["--set", "num.partitions=many"], "num.partitions"),
        (["--set", "num.partitions=0"], "num.partitions"),
        (["--flush", "sometimes"], "flush"),
        (["--storage", "redis://"], "storage"),
        (["--listen", "nowhere"], "listeners"),
        (["--log-requests", "some"], "log.requests"),
        (["--config", "/no/such/file"], "/no/such/file"),
    ],
    ids=lambda wrong: wrong[-1] if isinstance(wrong, list) else "",
)
def test_a_wrong_setting_is_one_line(wrong: list[str], named: str) -> None:
    line = the_one_line(ottla("serve", "--storage", "memory://", *wrong), 2)
    assert named in line
    assert wrong[-1].split("=")[-1] in line


def test_a_wrong_setting_from_the_environment_names_its_variable() -> None:
    done = ottla("serve", "--storage", "memory://", KAFKA_NUM_PARTITIONS="many")
    line = the_one_line(done, 2)
    assert "num.partitions" in line
    assert "KAFKA_NUM_PARTITIONS" in line


def test_unknown_kafka_keys_are_one_warning_each(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(
        "zookeeper.connect=localhost:2181\n"
        "log.cleaner.threads=3\n"
        "num.partitions=5\n"
        "advertised.listeners=PLAINTEXT://127.0.0.1:19099\n"
    )
    with BrokerProcess(tmp_path, "memory", ["--config", str(file)]) as broker:
        with broker.connect() as client:
            client.api_versions()
        warnings = [line for line in broker.log().splitlines() if '"warning"' in line]
        assert len([line for line in warnings if "zookeeper.connect" in line]) == 1
        assert not [line for line in warnings if "num.partitions" in line]
        assert addresses(broker.bootstrap) == ["127.0.0.1:19099"]


def test_a_second_sigterm_quits_at_once(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "drain.timeout.ms=60000")
    topic = new_topic(broker)
    with broker.connect() as client:
        for _ in range(8):
            client.produce(topic, batch([bytes(1_000_000)]))
        for _ in range(50):  # answers that nobody reads keep the drain waiting
            client.send(FETCH, 4, fetch_body(topic, 0, 0))
        assert broker.process is not None
        broker.process.send_signal(signal.SIGTERM)
        while broker.ready_file.exists():
            assert broker.process.poll() is None
        broker.process.send_signal(signal.SIGTERM)
        assert broker.process.wait(timeout=PATIENCE_S) == -signal.SIGTERM


def test_each_listener_tells_its_own_address(start_broker: StartBroker) -> None:
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
def test_on_every_address_clients_are_told_the_one_they_used(
    start_broker: StartBroker, everywhere: str
) -> None:
    broker = start_broker("--listen", everywhere)
    port = broker.ready["listeners"][0]["port"]
    for host in ("127.0.0.1", "127.0.0.2"):
        assert addresses(f"{host}:{port}") == [f"{host}:{port}"]


def test_the_command_line_wins_over_environment_and_file(tmp_path: Path) -> None:
    file = tmp_path / "ottla.toml"
    file.write_text('"num.partitions" = 2\n"message.max.bytes" = 2000\n"node.id" = 2\n')
    done = ottla(
        *("config", "show", "--origin", "--config", str(file), "--set", "num.partitions=4"),
        KAFKA_NUM_PARTITIONS="3",
        OTTLA_NODE_ID="7",
    )
    assert done.returncode == 0, done.stderr
    origins = dict(re.findall(r'^"([\w.]+)" = (.*?) *$', done.stdout, re.MULTILINE))
    assert re.fullmatch(r"4 +# command line --set", origins["num.partitions"])
    assert re.fullmatch(r"7 +# .*OTTLA_NODE_ID.*", origins["node.id"])
    assert re.fullmatch(rf"2000 +# .*{re.escape(str(file))}.*", origins["message.max.bytes"])
    assert origins["delete.topic.enable"].endswith("# default")


def test_shown_settings_are_a_settings_file(tmp_path: Path) -> None:
    shown = ottla("config", "show", "--set", "num.partitions=6")
    assert tomllib.loads(shown.stdout)["num.partitions"] == 6
    (tmp_path / "again.toml").write_text(shown.stdout)
    again = ottla("config", "show", "--config", str(tmp_path / "again.toml"))
    assert (again.stdout, again.stderr) == (shown.stdout, "")


def test_what_is_shown_may_be_cut_short() -> None:
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


def test_without_a_command_it_says_what_there_is() -> None:
    done = ottla()
    assert "serve" in done.stdout
    assert "demo" in done.stdout
