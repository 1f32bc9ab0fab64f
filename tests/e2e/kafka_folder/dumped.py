"""What Kafka's DumpLogSegments finds wrong in files of segments."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb

from infrastructure.storage.files.rows import PREFIX, LogRow, partition_of, unpack
from infrastructure.storage.lmdb.own_rows import OwnRows

#: Each batch and record; entries of both indexes against the log; their order and sizes.
OPTIONS = ("--deep-iteration", "--verify-index-only"), ("--index-sanity-check",)
#: Of one call, whose paths are one argument.
MOST_FILES = 500
KINDS = ".log", ".index", ".timeindex"
#: Of the tool's output, in lower case. A line of a record says none of it.
WRONG = "mismatch", "error", "invalid", "isvalid: false", "out of order", "exception", "corrupt"
#: Where records were compacted, and after a batch that was not.
GAPS = "non-consecutive"


def stored_logs(store: Path) -> dict[Path, LogRow]:
    """The committed state of each log with batches, by its folder; no broker has the store."""
    env = lmdb.open(str(store), readonly=True, lock=False, max_dbs=8)
    try:
        rows = OwnRows(env, env.open_db(b"rows", create=False), PREFIX)
        found = [(partition_of(key), unpack(row)) for key, row in rows.scan()]
    finally:
        env.close()
    return {_folder(store, number, row): row for number, row in found if row.has_batches}


def _folder(store: Path, partition_id: int, row: LogRow) -> Path:
    unnamed = store / f"partition.{partition_id:032x}-stray"
    if row.name is None or unnamed.exists():
        return unnamed
    return store / f"{row.name.topic}-{row.name.partition}"


def files_of(store: Path, with_active: bool) -> list[Path]:
    """Of all segments, or those that batches are not appended to any more.

    Without those that compaction is rewriting.
    """
    found: list[Path] = []
    for folder, row in stored_logs(store).items():
        rewritten = {one.base_offset for one in row.rewrites}
        last = row.active_base if with_active else row.active_base - 1
        for path in sorted(folder.glob("*.*")):
            base = int(path.stem) if path.suffix in KINDS else -1
            if row.first_base <= base <= last and base not in rewritten:
                found.append(path)
    return found


def problems(java: Sequence[str], files: Iterable[Path], gaps: bool = False) -> list[str]:
    """`gaps`: offsets may be missing."""
    paths = [str(path) for path in files]
    tool = [*java, "kafka.tools.DumpLogSegments"]
    calls = [
        [*tool, *options, "--files", ",".join(paths[first : first + MOST_FILES])]
        for first in range(0, len(paths), MOST_FILES)
        for options in OPTIONS
    ]
    with ThreadPoolExecutor(len(OPTIONS)) as some:
        dumped = "".join(some.map(_output, calls)).lower()
    for path in paths:
        if f"dumping {path}".lower() not in dumped:
            return [f"{path} was not looked at: {dumped[-2000:]}"]
    words = WRONG if gaps else (*WRONG, GAPS)
    return [line for line in dumped.splitlines() if any(word in line for word in words)]


def _output(command: Sequence[str]) -> str:
    ran = subprocess.run(command, capture_output=True, text=True)
    return ran.stdout + ran.stderr + ("" if ran.returncode == 0 else f"error: {ran.returncode}\n")
