"""Metrics of the process: from /proc, where the system has it, and from Python."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from application.metrics.families import process
from application.metrics.families.family import Family, Reading

#: Fields of /proc/self/stat after the name of the program.
START_TICKS, VIRTUAL_BYTES, RESIDENT_PAGES = 19, 20, 21
_COLLECTIONS = (
    (process.GC_COLLECTED, "collected"),
    (process.GC_UNCOLLECTABLE, "uncollectable"),
    (process.GC_RUNS, "collections"),
)


class ProcessFigures:
    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Without `proc`, on other systems than Linux, its metrics are left out."""
        self._proc = proc

    def read(self) -> Iterator[Reading]:
        yield process.CPU, [((), time.process_time())]
        try:
            for family, value in self._of_proc():
                yield family, [((), value)]
        except OSError:
            pass
        generations = gc.get_stats()
        for family, field in _COLLECTIONS:
            yield family, [((str(n),), counts[field]) for n, counts in enumerate(generations)]
        version = (*platform.python_version_tuple(), platform.python_version())
        yield process.PYTHON, [((platform.python_implementation(), *version), 1)]

    def _of_proc(self) -> Iterator[tuple[Family, float]]:
        stat = self._stat()
        yield process.VIRTUAL, int(stat[VIRTUAL_BYTES])
        yield process.RESIDENT, int(stat[RESIDENT_PAGES]) * os.sysconf("SC_PAGE_SIZE")
        yield process.STARTED, self._started
        for line in self._lines("self/status"):
            if line.startswith("RssAnon:"):
                yield process.PRIVATE, int(line.split()[1]) * 1024
        for line in self._lines("self/limits"):
            if line.startswith("Max open files"):
                yield process.MOST_FILES, float(line.split()[3])
        # Newer kernels have the number as the size: a list of 10,000 takes milliseconds.
        files = self._proc / "self/fd"
        yield process.OPEN_FILES, files.stat().st_size or len(os.listdir(files))

    @cached_property
    def _started(self) -> float:
        [boot] = [line.split()[1] for line in self._lines("stat") if line.startswith("btime ")]
        return int(boot) + int(self._stat()[START_TICKS]) / os.sysconf("SC_CLK_TCK")

    def _stat(self) -> list[str]:
        return self._text("self/stat").rpartition(")")[2].split()

    def _lines(self, name: str) -> list[str]:
        return self._text(name).splitlines()

    def _text(self, name: str) -> str:
        return (self._proc / name).read_text("utf-8", "replace")
