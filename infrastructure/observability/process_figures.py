"""Metrics of the process, from prometheus_client's own collectors, with our help texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from application.metrics.all_families import SECTIONS
from application.metrics.families import process
from application.metrics.families.family import Reading, Sample

_FAMILIES = {family.name: family for family in SECTIONS["The process"]}


class ProcessFigures:
    def __init__(self, proc: Path = Path("/proc")) -> None:
        """Without `proc`, on other systems than Linux, the metrics that it has are left out."""
        self._proc = proc
        self._registry = CollectorRegistry()
        ProcessCollector(proc=str(proc), registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def read(self) -> Iterator[Reading]:
        for metric in self._registry.collect():
            family = _FAMILIES[metric.samples[0].name]
            yield (
                family,
                [
                    (tuple(sample.labels[label] for label in family.labels), sample.value)
                    for sample in metric.samples
                ],
            )
        yield process.PRIVATE, list(self._private())

    def _private(self) -> Iterator[Sample]:
        try:
            status = (self._proc / "self/status").read_text("utf-8", "replace")
        except OSError:
            return
        for line in status.splitlines():
            if line.startswith("RssAnon:"):
                yield (), int(line.split()[1]) * 1024
