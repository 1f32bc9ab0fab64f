"""The five minutes of the README: each step has the output that the README shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.admin.console.conftest import MakeConsole
from tests.e2e.broker_process import PATIENCE_S, ROOT, BrokerProcess, environment

README = (ROOT / "README.md").read_text("utf-8")
[SECTION] = re.findall(r"^## Five minutes\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
BROKER, ADMIN, CORRELATION_ID = "localhost:9092", "localhost:8082", "correlation_id=3"


class Walk:
    """A broker, a shell with `ottla`, and the output of each block, or its line of the log."""

    def __init__(self, broker: BrokerProcess, folder: Path) -> None:
        self.broker = broker
        self.correlation_id = CORRELATION_ID
        self.outputs: list[str] = []
        self.path = folder / "bin"
        self.path.mkdir()
        ottla = self.path / "ottla"
        ottla.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m interfaces.main "$@"\n')
        ottla.chmod(0o755)

    def run(self, commands: str) -> str:
        """With the address of this broker, and the correlation id in its log."""
        admin = f"{self.broker.admin.host}:{self.broker.admin.port}"
        variables = environment()
        variables["PATH"] = f"{self.path}:{variables['PATH']}"
        done = subprocess.run(
            ["sh"],
            input=commands.replace(ADMIN, admin).replace(CORRELATION_ID, self.correlation_id),
            env=variables | {"OTTLA_BOOTSTRAP": self.broker.bootstrap},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        return done.stdout

    def logged(self, expected: str) -> str:
        """The line of the log that matches; without one the whole log."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if found := pattern(expected).search(self.broker.log()):
                return found.group()
            time.sleep(0.02)
        return self.broker.log()


def pattern(text: str) -> re.Pattern[str]:
    """In a text with dots, which leave something out, any numbers match."""
    parts = text.rstrip("\n").split("...")
    if len(parts) == 1:
        return re.compile(re.escape(text.rstrip("\n")))
    numbers = re.sub(r"\d+", r"\\d+", ".*".join(map(re.escape, parts)))
    # West of Greenwich the offset of local time is negative.
    return re.compile(numbers.replace(r"\+", "[+-]"))


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    if shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    folder = tmp_path_factory.mktemp("walk")
    settings = ["--admin", "127.0.0.1:0", "--log-format", "console"]
    with BrokerProcess(folder / "broker", "memory", settings) as broker:
        walk = Walk(broker, folder)
        before = ""
        for kind, text in BLOCKS:
            if kind == "sh":
                walk.outputs.append(walk.run(text))
            elif before != "sh":
                # A text that no command prints is a line of the log.
                line = walk.logged(text)
                walk.outputs.append(line)
                if CORRELATION_ID in text:
                    walk.correlation_id = re.findall(r"correlation_id=\d+|$", line)[0]
            before = kind
        yield walk


def test_each_step_has_the_output_in_the_readme(walk: Walk) -> None:
    expected = [text for kind, text in BLOCKS if kind == "text"]
    assert len(walk.outputs) == len(expected) == 4
    for text, output in zip(expected, walk.outputs, strict=True):
        assert pattern(text).fullmatch(output.rstrip("\n")), f"{output}\nis not\n{text}"


def test_the_console_shows_the_failed_request(walk: Walk, make_console: MakeConsole) -> None:
    [place] = re.findall(rf"`http://{ADMIN}/(#/requests\S+)`", SECTION)
    console = make_console(walk.broker, shared=True)
    page = console.open(place.replace(CORRELATION_ID, walk.correlation_id), "Requests")
    number = walk.correlation_id.partition("=")[2]
    row = page.get_by_role("row", name=re.compile(rf"^CreateTopics at .* {number} "))
    expect(row).to_contain_text("TOPIC_ALREADY_EXISTS")
    # A request of another connection may have the same number: then none is shown alone.
    shown = page.get_by_role("heading", name=f"correlation id {number}", level=2)
    expect(shown.or_(row).first).to_contain_text("CreateTopics")
