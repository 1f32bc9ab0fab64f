"""`ottla doctor`, and commands without a response. tests/unit has servers that are no broker."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.broker_process import BrokerProcess
from tests.fakes.tcp_servers import REFUSED, responding, sasl, server

#: Much longer than a test may take.
WAITS = ("--timeout", "1h")
PLAIN = ("-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN")
ACCOUNT = ("-X", "sasl.username=anna", "-X", "sasl.password=a-wrong-one")


def test_the_exit_code_for_a_healthy_broker_is_0(ottla: Ottla) -> None:
    assert {line.split()[0] for line in ottla.run("doctor").lines} == {"ok"}


@pytest.mark.parametrize("advertised", ["127.0.0.1:1", "another"])
def test_a_wrong_advertised_address_is_named(
    ottla: Ottla, tmp_path: Path, cli_broker: BrokerProcess, advertised: str
) -> None:
    advertised = cli_broker.bootstrap if advertised == "another" else advertised
    setting = ["--set", f"advertised.listeners=PLAINTEXT://{advertised}", "--admin", "127.0.0.1:0"]
    with BrokerProcess(tmp_path, "memory", setting) as broker:
        found = json.loads(ottla.run("doctor", "-o", "json", "-b", broker.bootstrap, code=1).out)
        rest = broker.admin.bootstrap
        if advertised == "127.0.0.1:1":
            for command in (("produce", "-t", "x"), ("consume", "x", "-g", "g")):
                done = ottla.run(*command, *WAITS, "-b", broker.bootstrap, stdin=b"x\n", code=1)
                assert f"advertises {advertised}" in done.errors
    assert f"advertises {advertised}" in found[-1]["what"]
    assert found[-1]["level"] == "problem"
    assert f"curl -X DELETE http://{rest}/brokers/1/configs/adv" in found[-1]["remedy"]


def test_a_wrong_password_is_named_and_not_printed(ottla: Ottla) -> None:
    with server(sasl) as address:
        doctor = ("doctor", "-b", address, "--timeout", "3", "-o", "json")
        done = ottla.run(*doctor, *PLAIN, *ACCOUNT, code=1)
        create = ottla.run("topic", "create", "x", "-b", address, *WAITS, *PLAIN, *ACCOUNT, code=1)
    *before, last = json.loads(done.out)
    assert [one["level"] for one in before] == ["ok"] * len(before)
    assert (last["level"], REFUSED in last["what"]) == ("problem", True)
    assert REFUSED in create.errors
    assert "a-wrong-one" not in done.out + done.errors + create.errors


def test_a_command_ends_at_once_where_a_retry_cannot_help(ottla: Ottla) -> None:
    with server(responding(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as address:
        errors = ottla.run("topic", "list", *WAITS, "-b", address, code=1).errors
        assert errors.startswith(f"ottla: {address} is an HTTP server")
        assert "HTTP server" in ottla.run("cluster", "health", *WAITS, "-b", address, code=1).out


@pytest.mark.long
def test_a_command_waits_for_a_slow_broker(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, "memory") as broker:
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            process = Ottla(broker.bootstrap).start("topic", "create", "x", "--timeout", "60")
            assert process.stderr is not None
            line = process.stderr.readline().decode()
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert broker.bootstrap in line
    assert (process.returncode, errors) == (0, b"")
