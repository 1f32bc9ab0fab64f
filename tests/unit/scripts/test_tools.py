"""The commands for development: what they refuse, and how they end when they are interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT


def run(*command: str, cwd: Path = ROOT) -> tuple[int, str, str]:
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(
        [str(ROOT / "scripts" / command[0]), *command[1:]],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("simulate --seeds 0", "argument --seeds: 0 is below 1"),
        ("simulate --seeds some", "argument --seeds: some is no number"),
        ("simulate --sto 185", "unrecognized arguments: --sto 185"),
        ("fuzz --rounds -5", "argument --rounds: -5 is below 1"),
        ("crash --lives 0", "argument --lives: 0 is below 1"),
        ("crash --repeat 2 --lives 1", "--repeat needs --seed: it repeats one life"),
        ("power replay nowhere", "nowhere holds no recording; scripts/power record nowhere makes"),
        ("power record tests", "tests is not empty"),
        ("power replay nowhere --seeds 0", "argument --seeds: 0 is below 1"),
    ],
)
def test_a_wrong_argument_is_an_error_of_one_line(
    command: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *arguments = command.split()
    folder = {"simulate": "simulation"}.get(name, name)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    try:
        code = import_module(f"tests.{folder}.__main__").main()
    except SystemExit as exited:
        code = exited.code
    printed = capsys.readouterr()
    assert why in printed.err
    assert (printed.err.count("\n"), printed.out) == (1, "")
    assert code == 2


# It takes the signals and a lock, so it runs in a process of its own.
@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("bench --rounds 0", "argument --rounds: 0 is below 1"),
        ("bench nonsense", "unknown part; the parts are limits, produce"),
        ("bench report nowhere.json", "there is no nowhere.json"),
        ("bench profile --load fetch --write nowhere.md", "there is no nowhere.md"),
        ("bench profile --load fetch --write README.md", "README.md has no <!-- profile fetch"),
        ("bench limits --json nowhere/else.json", "nowhere/else.json cannot be written"),
    ],
)
def test_a_wrong_argument_of_the_benchmarks_is_an_error_of_one_line(command: str, why: str) -> None:
    code, out, error = run(*command.split())
    assert why in error
    assert (error.count("\n"), out) == (1, "")
    assert code != 0


@pytest.mark.parametrize(
    ("command", "last_line"),
    [
        ("simulate --seed 185", "seed 185: passed after "),
        ("simulate --world two_brokers --seed 185", "seed 185: passed after "),
        ("simulate --world several_brokers --seed 185", "seed 185: passed after "),
        pytest.param("fuzz --seed 17", "500 frames in ", marks=pytest.mark.long),
    ],
)
def test_a_seed_chooses_its_run(command: str, last_line: str) -> None:
    code, out, _ = run(*command.split())
    assert out.splitlines()[-1].startswith(last_line)
    assert code == 0


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("tests.crash --seed 1 --repeat 100", signal.SIGINT),
        ("tests.simulation --seeds 100000 --keep-going", signal.SIGTERM),
    ],
)
def test_an_interrupted_command_reports_it_and_leaves_no_files(
    module: str, number: signal.Signals, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", *module.split()],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as tool:
        while not _handles_signals(tool.pid):
            assert tool.poll() is None
        if "crash" in module:
            assert tool.stdout is not None
            tool.stdout.readline()
        tool.send_signal(number)
        out, error = tool.communicate(timeout=30)
    assert error == ""
    assert out.splitlines()[-1].startswith("interrupted after ")
    assert out.endswith(" 0 failed\n")
    assert list(tmp_path.iterdir()) == []
    assert tool.returncode == 130


def _handles_signals(pid: int) -> bool:
    """As its code says: SIGINT, which Python handles from its start, and then SIGTERM."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False
