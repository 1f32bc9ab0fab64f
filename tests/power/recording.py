"""Runs a program under record.c, and reads its trace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_name("record.c")

#: A file in the folder of a run, written at its end.
RECORDING = "recording.json"

#: A run of so many passes has every kind of event several times.
PASSES = 100

_ENTRY = Struct("<IiQQ")

#: Flags of an open call.
CREATED, TRUNCATED, SYNCED = 1, 2, 4


@dataclass(frozen=True)
class Event:
    """One call, as record.c writes it.

    O opened   W written   T P truncated, by descriptor and by path   S s sync begun and ended
    F f of all files   D folder made   R renamed   L linked   U removed   X mapped   M a mark
    """

    kind: str
    file: int
    offset: int
    data: bytes


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


def build_recorder(folder: Path) -> Path:
    library = folder / "record.so"
    found = compiler()
    assert found is not None
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [found, *flags, "-o", os.fspath(library), os.fspath(SOURCE), "-ldl", "-pthread"], check=True
    )
    return library


def record(library: Path, folder: Path, module: str, arguments: Sequence[str]) -> Path:
    """Runs `python -m module folder/disk marks ...`; traces its calls below folder/disk."""
    disk, marks, trace = folder / "disk", folder / "marks", folder / "trace"
    disk.mkdir()
    environment = dict(os.environ) | {
        "LD_PRELOAD": os.fspath(library),
        "POWER_FOLDER": os.fspath(disk),
        "POWER_MARKS": os.fspath(marks),
        "POWER_TRACE": os.fspath(trace),
        "PYTHONPATH": os.fspath(ROOT),
    }
    subprocess.run(
        [sys.executable, "-m", module, os.fspath(disk), os.fspath(marks), *arguments],
        env=environment,
        cwd=ROOT,
        check=True,
        timeout=300,
        start_new_session=True,  # Ctrl-C is for the parent process, which then ends it
    )
    return trace


def record_workload(folder: Path, engine: str, flush: str, seed: int, passes: int) -> None:
    """A run of workload.py, with its ledger."""
    folder.mkdir(parents=True, exist_ok=True)
    library = build_recorder(folder)
    record(library, folder, "tests.power.workload", [engine, flush, str(seed), str(passes)])
    facts = {"engine": engine, "flush": flush, "seed": seed, "passes": passes}
    (folder / RECORDING).write_text(json.dumps(facts) + "\n")


def recorded_in(folder: Path) -> tuple[str, str]:
    """Engine and flush policy."""
    facts = json.loads((folder / RECORDING).read_text())
    return facts["engine"], facts["flush"]


def read_trace(trace: Path) -> Iterator[Event]:
    data = trace.read_bytes()
    position = 0
    while position < len(data):
        kind, file, offset, length = _ENTRY.unpack_from(data, position)
        position += _ENTRY.size
        yield Event(chr(kind), file, offset, data[position : position + length])
        position += length
