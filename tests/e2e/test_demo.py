from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


COMMAND = [sys.executable, "-P", "-m", "interfaces.main", "demo"]


def test_the_tour_succeeds_and_reports_its_steps(tmp_path: Path) -> None:
    ended = subprocess.run(
        COMMAND,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count(": key-3 = message 3") == 2
    assert ended.stdout.count("ready at 127.0.0.1:") == 2
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_tour_leaves_no_files(tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as tour:
        assert tour.stdout is not None
        assert any("ready at" in line for line in tour.stdout)
        assert list(tmp_path.glob("ottla-demo-*"))
        tour.terminate()
        assert tour.wait(50) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
