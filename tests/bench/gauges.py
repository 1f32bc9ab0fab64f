"""What a broker's process used during a load: CPU, memory, disk, switches (Linux only)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_SAMPLE_S = 0.05

Figures = dict[str, float]


def cpu_s(pid: int, fields_used: int = 2) -> float:
    """Of two fields of proc(5): user and system time; of four: of ended children, too."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    fields = stat[stat.rindex(")") + 2 :].split()
    return sum(map(int, fields[11 : 11 + fields_used])) / _TICKS_PER_S


def tree_cpu_s(pid: int) -> float:
    """With its children, also those that have ended."""
    used = cpu_s(pid, 4)
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        used += sum(tree_cpu_s(int(child)) for child in task.read_text().split())
    return used


def memory_mb(pid: int) -> Figures:
    """Resident memory, and the part of it that is not pages of files."""
    fields = _fields(Path(f"/proc/{pid}/status"))
    return {
        "rss_anon_mb": int(fields["RssAnon"].split()[0]) / 1024,
        "rss_mb": int(fields["VmRSS"].split()[0]) / 1024,
    }


def written_mb(pid: int) -> float:
    """Bytes written to files; dirty pages that were dropped count too."""
    return int(_fields(Path(f"/proc/{pid}/io"))["write_bytes"]) / 1e6


def context_switches(pid: int) -> int:
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            fields = _fields(status)
        except OSError:
            continue  # the thread has just ended
        count += int(fields["voluntary_ctxt_switches"])
        count += int(fields["nonvoluntary_ctxt_switches"])
    return count


class Usage:
    """`with Usage(pid) as usage: ...`, and `usage.figures` afterwards."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._peak_mb = 0.0
        self.figures: Figures = {}

    def __enter__(self) -> Self:
        self._cpu_s = cpu_s(self._pid)
        self._written_mb = written_mb(self._pid)
        self._switches = context_switches(self._pid)
        self._sampler.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._sampler.join()
        if kind is not None:
            return
        memory = memory_mb(self._pid)
        self.figures = {
            "broker_cpu_s": cpu_s(self._pid) - self._cpu_s,
            "rss_anon_peak_mb": max(self._peak_mb, memory["rss_anon_mb"]),
            "written_mb": written_mb(self._pid) - self._written_mb,
            # Of live threads: the counts of ended threads are lost.
            "context_switches": max(0, context_switches(self._pid) - self._switches),
            **memory,
        }

    def _sample(self) -> None:
        while not self._over.wait(_SAMPLE_S):
            try:
                self._peak_mb = max(self._peak_mb, memory_mb(self._pid)["rss_anon_mb"])
            except (OSError, KeyError):
                return  # the broker ended; the run reports that


def _fields(file: Path) -> dict[str, str]:
    return dict(line.split(":", 1) for line in file.read_text().splitlines())
