"""What is read of the process itself: from /proc where there is one, and from Python."""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from application.metrics.families import process
from application.metrics.families.family import Family, Reading, Sample

#: In /proc/self/stat, counted after the name of the program: when it was started, in ticks.
START_TICKS = 19
VIRTUAL_PAGES, RESIDENT_PAGES = 0, 1


class ProcessFigures:
    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc

    def read(self) -> Iterator[Reading]:
        yield process.CPU, [((), time.process_time())]
        yield process.RESIDENT, self._pages(RESIDENT_PAGES)
        yield process.PRIVATE, list(self._private())
        yield process.VIRTUAL, self._pages(VIRTUAL_PAGES)
        yield process.OPEN_FILES, list(self._open_files())
        yield process.MOST_FILES, list(_most_files())
        yield process.STARTED, list(self._started())
        yield from _collections()
        yield process.PYTHON, [(_python(), 1)]

    def _text(self, name: str) -> str | None:
        try:
            return (self._proc / name).read_text("utf-8", "replace")
        except OSError:
            return None

    def _pages(self, place: int) -> list[Sample]:
        pages = self._text("self/statm")
        if pages is None:
            return []
        return [((), int(pages.split()[place]) * os.sysconf("SC_PAGE_SIZE"))]

    def _private(self) -> Iterator[Sample]:
        for line in (self._text("self/status") or "").splitlines():
            if line.startswith("RssAnon:"):
                yield (), int(line.split()[1]) * 1024

    def _open_files(self) -> Iterator[Sample]:
        folder = self._proc / "self/fd"
        try:
            # Newer kernels say how many there are; of ten thousand the list takes milliseconds.
            yield (), folder.stat().st_size or len(os.listdir(folder))
        except OSError:
            return

    def _started(self) -> Iterator[Sample]:
        stat, machine = self._text("self/stat"), self._text("stat")
        if stat is None or machine is None:
            return
        [booted] = [line.split()[1] for line in machine.splitlines() if line.startswith("btime ")]
        ticks = int(stat.rpartition(")")[2].split()[START_TICKS])
        yield (), int(booted) + ticks / os.sysconf("SC_CLK_TCK")


def _most_files() -> Iterator[Sample]:
    try:
        import resource
    except ImportError:
        return
    yield (), resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _collections() -> Iterator[Reading]:
    generations = gc.get_stats()
    fields: tuple[tuple[Family, str], ...] = (
        (process.GC_COLLECTED, "collected"),
        (process.GC_UNCOLLECTABLE, "uncollectable"),
        (process.GC_RUNS, "collections"),
    )
    for family, field in fields:
        yield family, [((str(n),), counts[field]) for n, counts in enumerate(generations)]


def _python() -> tuple[str, ...]:
    major, minor, micro = map(str, sys.version_info[:3])
    return platform.python_implementation(), major, minor, micro, platform.python_version()
