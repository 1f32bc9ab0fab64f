"""`ottla spark` as a process: what fails in a worker is one line for the one who started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.spark.session import root


def spark_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "interfaces.main", "spark", *words]


def test_what_fails_in_a_worker_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs Spark")
    file = tmp_path / "topic=t" / "date=2026-11-22" / "part.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("this is none")
    words = ["restore", str(tmp_path), "--master", "local[1]", "-b", "127.0.0.1:1"]

    ended = subprocess.run(
        spark_command(*words), env=environment(), capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("ottla: ")
    assert "is not a Parquet file" in ended.stderr


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "OTTLA_TRACEBACK"}
    return {**kept, "PYTHONPATH": root()}
