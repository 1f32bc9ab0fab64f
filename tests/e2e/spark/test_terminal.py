"""`ottla spark archive` on a terminal: its progress line; Ctrl-C ends all of its processes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.spark.kafka.topics import fill
from tests.e2e.spark.test_command import environment, spark_command

CTRL_C = b"\x03"
PATIENCE_S = 100
#: For processes that are ending; the JVM takes half a second.
ENDING_S = 20


class Terminal:
    """Its process leads a session, so signals of the terminal go to all that it started."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.keyboard, screen = pty.openpty()
        self.shown = b""
        self.process = subprocess.Popen(
            words,
            preexec_fn=lambda: os.login_tty(screen),
            env={**environment(), "TERM": "xterm"},
            cwd=folder,
            pass_fds=[screen],
        )
        os.close(screen)
        os.set_blocking(self.keyboard, False)

    def read(self) -> bytes:
        try:
            while piece := os.read(self.keyboard, 1 << 16):
                self.shown += piece
        except OSError:  # nothing more for now, or all processes have closed it
            pass
        return self.shown

    def lines(self) -> list[str]:
        """As they stay on the screen: progress overwrites its line."""
        text = self.shown.decode().replace("\r\n", "\n").replace("\x1b[K", "")
        return [line.rpartition("\r")[2] for line in text.strip("\n").split("\n")]

    def processes(self) -> list[str]:
        """Commands of its session that are running."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                _, _, rest = (process / "stat").read_text().rpartition(")")
                state, _, _, session = rest.split()[:4]
                if session == str(self.process.pid) and state != "Z":
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found


@pytest.mark.long
def test_ctrl_c_ends_an_archive_and_all_of_its_processes(
    servers: str, topic: str, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="needs Spark")
    fill(servers, topic, [b"%d" % number for number in range(10_000)])
    to = tmp_path / "archive"
    words = ["archive", "-b", servers, topic, "--to", str(to), "--max-records", "20"]
    small = ["--master", "local[2]", "--conf", "spark.driver.memory=512m"]
    screen = Terminal(spark_command(*words, *small), tmp_path)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not (to / "_checkpoint" / "commits" / "2").exists():
            assert screen.process.poll() is None and time.monotonic() < deadline, screen.read()
            screen.read()
            time.sleep(0.05)
        assert any("java" in each for each in screen.processes())
        os.write(screen.keyboard, CTRL_C)
        assert screen.process.wait(ENDING_S) == 130
        screen.read()
        deadline = time.monotonic() + ENDING_S
        while left := screen.processes():
            assert time.monotonic() < deadline, left
            time.sleep(0.05)
    finally:
        screen.process.kill()
        screen.process.wait()
        os.close(screen.keyboard)
    result, *others = screen.lines()
    assert re.fullmatch(r"\d+ records were added to .+, in \d+ batch(es)?", result)
    assert set(others) <= {"ottla: interrupted"}
    assert b"[Stage" not in screen.shown[screen.shown.index(b"archived") :]
