"""`ottla spark` as a process: what fails in a task is one line for the one who started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.spark.session import root


def spark_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "interfaces.main", "spark", *words]


def test_what_fails_in_a_task_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs Spark")
    file = tmp_path / "requests.log.gz"
    file.write_text("this is none")
    words = ["requests", str(file), "--master", "local[1]"]

    ended = subprocess.run(
        spark_command(*words), env=environment(), capture_output=True, text=True, timeout=120
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "ottla: not a gzip file\n"


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "OTTLA_TRACEBACK"}
    return {**kept, "PYTHONPATH": root()}
