"""Confirmation and progress, which are for terminals only."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from tests.e2e.admin.cli.conftest import Ottla, create_filled
from tests.e2e.broker_process import BrokerProcess


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def on_a_terminal(ottla: Ottla, *arguments: str, typed: bytes = b"") -> tuple[int, str]:
    """The exit code, and the text on the terminal; stdout is a file."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    with (
        open(theirs, encoding="utf-8", closefd=False) as stdin,
        open(theirs, "w", encoding="utf-8") as stderr,
        open(os.devnull, "w", encoding="utf-8") as stdout,
    ):
        code = ottla.main(arguments, stdin, stdout, stderr)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    return code, shown.decode()


@pytest.mark.parametrize("typed, code, left", [(b"\n", 1, 1), (b"y\n", 0, 0)])
def test_deleting_a_topic_needs_a_confirmation(
    ottla: Ottla, name: str, typed: bytes, code: int, left: int
) -> None:
    ottla.run("topic", "create", name)
    ended, shown = on_a_terminal(ottla, "topic", "delete", name, typed=typed)
    assert ended == code
    assert name in shown
    assert len(ottla.run("topic", "list", f"^{name}$").rows) == left


def test_yes_skips_the_confirmation(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    assert on_a_terminal(ottla, "topic", "delete", "--yes", name) == (0, "")


def test_commands_for_stores_show_their_progress(
    store: Path, ottla: Ottla, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(store)
    code, shown = on_a_terminal(ottla, "storage", "verify", folder)
    assert (code, "verify " in shown, "\x1b[32m" in shown) == (0, True, True)
    monkeypatch.setenv("NO_COLOR", "1")
    code, shown = on_a_terminal(ottla, "storage", "dump", folder)
    assert (code, "dump " in shown, "\x1b[32m" in shown) == (0, True, False)
    assert ottla.run("storage", "verify", folder).errors == ""


def test_produce_and_consume_show_their_progress(
    cli_broker: BrokerProcess, ottla: Ottla, name: str, tmp_path: Path
) -> None:
    create_filled(cli_broker, name, [b"%d" % number for number in range(1000)])
    lines = tmp_path / "lines"
    lines.write_text("line\n" * 1000)
    for what, *arguments in (
        ("produce", "-t", name, "-q", "-l", str(lines)),
        ("consume", name, "-e"),
        ("consume", name, "-o", "5:20"),
    ):
        code, shown = on_a_terminal(ottla, what, *arguments)
        assert (code, f"{what} " in shown) == (0, True), arguments
        assert shown.endswith("\r\x1b[K")
    code, shown = on_a_terminal(ottla, "perf", "consume", name, "-n", "1000")
    assert (code, "consume " in shown) == (0, True)
    # The total is unknown.
    assert on_a_terminal(ottla, "consume", name, "--idle", "0.3") == (0, "")
