"""The programs of docs/raw.md, as they are on the page."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.broker_process import ROOT
from tests.e2e.node_packages import program
from tests.e2e.program import Program
from tests.e2e.raw.conftest import RawBroker
from tests.e2e.raw.stream import positions

BLOCK = re.compile(r"^```\w+\n(?:#|//) (\w+\.\w+).*?^```$", re.MULTILINE | re.DOTALL)
PAGE = (ROOT / "docs/raw.md").read_text("utf-8")
BLOCKS = {found[1]: found[0].partition("\n")[2][:-3] for found in BLOCK.finditer(PAGE)}
LINES = [
    "one",
    "",
    "zwei, drei \u00e4\u20ac\U0001f600",
    r"100% \x41 \n $PATH `",
    "x" * 300,
    "the last",
]
ROLES = ("produce", "consume")
PATIENCE_S = 30.0


def compiled(source: Path) -> list[str]:
    binary = source.with_suffix("")
    strict = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-O2")
    subprocess.run([program("cc"), *strict, "-o", binary, source], check=True, timeout=PATIENCE_S)
    return [str(binary)]


#: By suffix.
COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "sh": lambda source: [program("bash"), str(source)],
    "py": lambda source: [program("python3"), str(source)],
    "c": compiled,
    "js": lambda source: [program("node"), str(source)],
}


def command(name: str, raw: RawBroker, folder: Path) -> list[str]:
    source = folder / name
    source.write_text(BLOCKS[name].replace("12000", str(raw.port)), "utf-8")
    return COMMANDS[source.suffix[1:]](source)


def test_the_page_has_a_producer_and_a_consumer_in_each_language() -> None:
    assert sorted(BLOCKS) == sorted(f"{role}.{kind}" for role in ROLES for kind in COMMANDS)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_producer_prints_the_offset_of_each_line_and_a_consumer_the_lines(
    kind: str, raw: RawBroker, end: int, tmp_path: Path
) -> None:
    """The consumer is there before: it has to wait for them."""
    raw.produce(b"before")
    consumer = command(f"consume.{kind}", raw, tmp_path)
    with Program([*consumer, str(end)]) as tail:
        tail.wait_for("before")
        produced = subprocess.run(
            command(f"produce.{kind}", raw, tmp_path),
            input="".join(f"{line}\n" for line in LINES),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (produced.returncode, produced.stderr) == (0, "")
        expected = positions([line.encode() for line in LINES], end + 4 + len("before"))
        assert [int(offset) for offset in produced.stdout.split()] == expected[:-1]
        tail.wait_until(lambda lines: len(lines) > len(LINES))
        assert tail.lines == ["before", *LINES]


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_consumer_continues_where_a_producer_was_told(
    kind: str, raw: RawBroker, tmp_path: Path
) -> None:
    offsets = raw.produce(*(b"%d" % number for number in range(100)))
    with Program([*command(f"consume.{kind}", raw, tmp_path), str(offsets[90])]) as tail:
        tail.wait_for("99")
        assert tail.lines == [str(number) for number in range(90, 100)]
