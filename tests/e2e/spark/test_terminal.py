"""`ottla spark archive` on a terminal: its progress line, and Ctrl-C, which ends all processes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.spark.kafka.topics import fill
from tests.e2e.spark.test_command import environment, spark_command

CTRL_C = b"\x03"
PATIENCE_S = 100
#: For what was told to end; the JVM takes half a second.
LEFT_S = 20


class Terminal:
    """Its process leads a session, so signals of the terminal go to all that it started."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        self.said = b""
        self.process = subprocess.Popen(
            words,
            preexec_fn=lambda: os.login_tty(theirs),
            env={**environment(), "TERM": "xterm"},
            cwd=folder,
            pass_fds=[theirs],
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def listen(self) -> None:
        try:
            while said := os.read(self._ours, 1 << 16):
                self.said += said
        except OSError:  # nothing more for now, or nobody has it open any more
            pass

    def lines(self) -> list[str]:
        """What stays to be seen: of each line what came after it was begun anew."""
        text = self.said.decode().replace("\r\n", "\n").replace("\x1b[K", "")
        return [line.rpartition("\r")[2] for line in text.strip("\n").split("\n")]

    def processes(self) -> list[str]:
        """Of its session, without those that have ended."""
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

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@contextmanager
def terminal(words: list[str], folder: Path) -> Iterator[Terminal]:
    opened = Terminal(words, folder)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.long
def test_ctrl_c_ends_an_archive_and_all_of_its_processes(
    servers: str, topic: str, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="needs Spark")
    fill(servers, topic, [b"%d" % number for number in range(10_000)])
    to = tmp_path / "archive"
    words = ["archive", "-b", servers, topic, "--to", str(to), "--max-records", "20"]
    small = ["--master", "local[2]", "--conf", "spark.driver.memory=512m"]
    with terminal(spark_command(*words, *small), tmp_path) as screen:
        deadline = time.monotonic() + PATIENCE_S
        while not (to / "_checkpoint" / "commits" / "2").exists():
            screen.listen()
            assert screen.process.poll() is None, screen.said
            assert time.monotonic() < deadline, screen.said
            time.sleep(0.05)
        assert any("java" in each for each in screen.processes())
        screen.type(CTRL_C)
        assert screen.process.wait(LEFT_S) == 130
        screen.listen()
        deadline = time.monotonic() + LEFT_S
        while left := screen.processes():
            assert time.monotonic() < deadline, left
            time.sleep(0.05)
    told = screen.lines()
    assert re.fullmatch(r"\d+ records were added to .+, in \d+ batch(es)?", told[0]), told
    assert set(told[1:]) <= {"ottla: interrupted"}, told
    assert b"[Stage" not in screen.said[screen.said.index(b"archived") :]
