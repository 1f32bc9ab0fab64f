"""`ottla profile`: commands take their cluster from a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.__main__ import main
from tests.e2e.broker_process import BrokerProcess


def test_commands_use_a_profile(
    cli_broker: BrokerProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        assert main(arguments) == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("OTTLA_BOOTSTRAP", raising=False)
    password = ("-X", "sasl.password=hidden")
    run("profile", "create", "mine", "-b", cli_broker.bootstrap, *password)
    run("profile", "create", "other", "-b", "127.0.0.1:1")
    assert "exists" in run("profile", "create", "mine", code=1)
    for form in ("table", "json"):
        listed = run("profile", "list", "-o", form)
        assert ("sasl.password" in listed, "hidden" in listed) == (True, False)
    assert "127.0.0.1:1" in run("cluster", "info", code=1)
    assert cli_broker.bootstrap.split(":")[1] in run("cluster", "info", "--profile", "mine")
    run("profile", "use", "mine")
    assert cli_broker.bootstrap.split(":")[1] in run("cluster", "info")
    run("profile", "delete", "mine")
    assert "mine" in run("profile", "use", "mine", code=1)
