from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_ends_well_and_says_what_happened(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "interfaces.main", "demo"],
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
