from __future__ import annotations

import json
import re
import socket
from pathlib import Path

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla, create_filled
from tests.e2e.broker_process import BrokerProcess

NUMBER = r"[0-9]+(\.[0-9]+)?"


def closed_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_a_cluster_is_described(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    shown = json.loads(ottla.run("cluster", "describe", "-o", "json").out)
    host, port = ottla.bootstrap.split(":")
    [broker] = shown["brokers"]
    assert broker == {
        "id": 1, "host": host, "port": int(port), "rack": None, "fenced": False,
        "leaders": shown["partitions"], "preferred": shown["partitions"], "max_epoch": 0,
    }  # fmt: skip
    assert shown["problems"] == []
    assert shown["cluster_id"] in ottla.run("cluster", "info").out


def test_a_broker_that_is_alone_has_nothing_to_move(ottla: Ottla) -> None:
    for more in (("--dry-run",), ()):
        [line] = ottla.run("cluster", "balance", *more).lines
        assert line.startswith("0 reassignments, 0 elections")
    assert "no broker but 1" in ottla.run("cluster", "drain", "1", code=1).errors
    assert "there is no broker 7" in ottla.run("cluster", "drain", "7", code=1).errors


def test_a_broker_that_is_alone_stays_registered(ottla: Ottla) -> None:
    for node_id, why in (("1", "Broker ID 1 is alive"), ("7", "7 is not currently registered")):
        refused = ottla.run("cluster", "unregister", node_id, code=1)
        assert (why in refused.errors, refused.errors.count("\n")) == (True, 1)


def test_the_exit_code_is_the_health_of_the_cluster(ottla: Ottla) -> None:
    assert ottla.run("cluster", "health").lines == ["HEALTHY  yes"]
    gone = ottla.run("cluster", "health", "-b", closed_port(), code=1)
    assert gone.lines[0] == "HEALTHY  no"
    assert "connection refused" in gone.lines[1]
    waited = ottla.run(
        "cluster", "health", "-w", "-e", "--timeout", "0.5", "-b", closed_port(), code=1
    )
    assert waited.errors.count("\n") == 1


def test_the_readiness_of_a_broker_is_that_of_its_rest_side(ottla: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, "memory", ["--admin", "127.0.0.1:0"]) as broker:
        admin = ("--admin", broker.admin.bootstrap, "--timeout", "30")
        ready = ottla.run("cluster", "health", *admin)
        assert ready.lines == ["HEALTHY  yes"]
        wrong = ottla.run("cluster", "health", "--admin", broker.bootstrap, code=1)
        assert wrong.lines[0] == "HEALTHY  no"
    gone = ottla.run("cluster", "health", "--admin", closed_port(), code=1)
    assert "connection refused" in gone.lines[1]


def test_health_waits_for_a_broker(ottla: Ottla, tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path, "memory", ["--listen", (address := closed_port())])
    waiting = ottla.start("cluster", "health", "-w", "-e", "--timeout", "30", "-b", address)
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == b"HEALTHY  no\n"
    with broker:
        out, errors = waiting.communicate(timeout=PATIENCE_S)
        assert (waiting.returncode, errors) == (0, b"")
        assert out.endswith(b"HEALTHY  yes\n")


def test_configs_of_a_broker_are_set_and_unset(ottla: Ottla) -> None:
    def dynamic() -> list[list[str]]:
        return ottla.run("broker", "config", "get", "--set-only").rows

    assert dynamic() == []
    setting = "message.max.bytes=1048576"
    ottla.run("broker", "config", "set", setting, "--dry-run")
    assert ottla.run("broker", "config", "set", setting).lines == [f"broker 1: {setting}"]
    assert dynamic() == [["message.max.bytes", "1048576", "broker"]]
    ottla.run("broker", "config", "unset", "message.max.bytes", "--broker", "1")
    assert dynamic() == []
    unused = ottla.run("broker", "config", "set", "log.preallocate=true", "--dry-run")
    assert "log.preallocate" in unused.errors
    for wrong in (("set", "log.dirs=x"), ("set", "nosuch=1"), ("unset", "nosuch")):
        assert wrong[1].split("=")[0] in ottla.run("broker", "config", *wrong, code=1).errors
    ottla.run("broker", "config", "get", "--broker", "one", code=1)


def test_a_refused_connection_ends_a_command_at_once(ottla: Ottla) -> None:
    address = closed_port()
    for arguments in (("topic", "list"), ("group", "list"), ("consume", "x"), ("produce", "x")):
        errors = ottla.run(*arguments, "-b", address, "--timeout", "1h", code=1).errors
        assert (address in errors, errors.count("\n")) == (True, 1)


def test_offsets_are_listed_by_timestamp(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name, "-p", "2")
    stamped = b"1700000000000 a\n1700000001000 b\n"
    ottla.run("produce", "-t", name, "-p", "1", "-f", r"%T %v\n", stdin=stamped)
    assert ottla.run("offsets", name).rows == [[name, "0", "0", "0"], [name, "1", "0", "2"]]
    at = ("offsets", name, "-p", "1", "-a", "@1700000000500", "-a", "@-1h")
    head = ["TOPIC", "PARTITION", "@1700000000500", "@-1h"]
    assert ottla.run(*at).lines[0].split() == head
    assert json.loads(ottla.run(*at, "-o", "json").out) == [
        {"topic": name, "partition": 1, "@1700000000500": 1, "@-1h": 2}
    ]


def test_perf_prints_the_lines_of_kafkas_tools(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    [line] = ottla.run("perf", "produce", name, "-n", "2000", "-s", "50").lines
    assert re.fullmatch(
        rf"2000 records sent, {NUMBER} records/sec \({NUMBER} MB/sec\), {NUMBER} ms avg latency, "
        rf"{NUMBER} ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.",
        line,
    )
    [value] = ottla.run("consume", name, "-n", "1").lines
    assert re.fullmatch("[A-Z]{50}", value)
    head, line = ottla.run("perf", "consume", name, "-n", "2000").lines
    assert head.startswith("start.time, end.time, data.consumed.in.MB, MB.sec, ")
    fields = dict(zip(head.split(", "), line.split(", "), strict=True))
    assert (fields["data.consumed.in.nMsg"], fields["data.consumed.in.MB"]) == ("2000", "0.0954")
    first, average, percentiles = ottla.run("perf", "e2e", name, "-n", "20").lines
    assert re.fullmatch(rf"0\t{NUMBER}", first)
    assert re.fullmatch(rf"Avg latency: {NUMBER} ms", average)
    assert re.fullmatch(r"Percentiles: 50th = \d+, 99th = \d+, 99.9th = \d+", percentiles)


def test_consume_ends_when_the_broker_is_down_for_the_timeout(name: str, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, "memory") as broker:
        create_filled(broker, name, [b"first"])
        with Ottla(broker.bootstrap).start("consume", name, "--timeout", "6") as consuming:
            assert consuming.stdout is not None
            assert consuming.stdout.readline() == b"first\n"
            broker.kill()
            out, errors = consuming.communicate(timeout=PATIENCE_S)
        assert (consuming.returncode, out) == (1, b"")
        assert (broker.bootstrap.encode() in errors, errors.count(b"\n")) == (True, 1)
