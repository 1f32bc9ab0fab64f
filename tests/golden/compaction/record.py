"""Writes `kafka.jsonl`: python -m tests.golden.compaction.record"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.golden.compaction.cases import cases
from tests.oracle.kafka import find_jars

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "kafka.jsonl"

#: name, batches and passes of a case; `cleaned`: the batches after each pass.
Row = dict[str, Any]


def recorded() -> list[Row]:
    return [json.loads(line) for line in RECORDED.read_text().splitlines()]


def cleaned_by_kafka(jars: Path, rows: Iterable[Row]) -> list[list[list[str]]]:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    with TemporaryDirectory() as folder:
        options = ["-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}", "-cp", f"{jars}/*"]
        run = subprocess.run(
            ["java", *options, str(FOLDER / "Clean.java")],
            input=lines,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert run.returncode == 0, run.stderr[-3000:]
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[[")]


def main() -> None:
    rows: list[Row] = [
        {"name": case.name, "passes": case.passes, "batches": [b.hex() for b in case.batches]}
        for case in cases()
    ]
    for row, cleaned in zip(rows, cleaned_by_kafka(find_jars(), rows), strict=True):
        row["cleaned"] = cleaned
    RECORDED.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
