"""Confirmation and progress, which are for terminals only."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.broker_process import command, environment


def on_a_terminal(
    ottla: Ottla, *arguments: str, typed: bytes = b"", **variables: str
) -> tuple[int, str]:
    """The exit code, and the text on the terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        env=environment() | {"OTTLA_BOOTSTRAP": ottla.bootstrap, "TERM": "xterm"} | variables,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        if typed:
            os.write(ours, typed)
        code = process.wait(PATIENCE_S)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
    return code, shown.decode()


@pytest.mark.parametrize("answer, code, left", [(b"\n", 1, 1), (b"y\n", 0, 0)])
def test_deleting_a_topic_needs_a_confirmation(
    ottla: Ottla, name: str, answer: bytes, code: int, left: int
) -> None:
    ottla.run("topic", "create", name)
    ended, shown = on_a_terminal(ottla, "topic", "delete", name, typed=answer)
    assert ended == code
    assert name in shown
    assert len(ottla.run("topic", "list", f"^{name}$").rows) == left


def test_yes_skips_the_confirmation(ottla: Ottla, name: str) -> None:
    ottla.run("topic", "create", name)
    assert on_a_terminal(ottla, "topic", "delete", "--yes", name) == (0, "")


@pytest.mark.long
def test_long_work_shows_its_progress(store: Path, ottla: Ottla) -> None:
    folder = str(store)
    code, shown = on_a_terminal(ottla, "storage", "verify", folder)
    assert code == 0
    assert "verify " in shown
    assert "\x1b[32m" in shown
    _, plain = on_a_terminal(ottla, "storage", "verify", folder, NO_COLOR="1")
    assert "verify " in plain
    assert "\x1b[32m" not in plain
    assert ottla.run("storage", "verify", folder).errors == ""
    code, shown = on_a_terminal(ottla, "storage", "dump", folder)
    assert code == 0
    assert "dump " in shown


def test_produce_and_consume_show_their_progress(ottla: Ottla, name: str, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("".join(f"line {number}\n" for number in range(1000)))
    ottla.run("topic", "create", name)
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
