"""Prometheus's text format, version 0.0.4. Why not by a library: docs/internals/adr/0021."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from application.metrics.families.family import Family, Histogram, Reading, Sample, Value


class MetricsText:
    """The first reading of a family gets its HELP and TYPE lines."""

    def __init__(self) -> None:
        self._begun: set[Family] = set()

    def of(self, reading: Reading) -> bytes:
        family, samples = reading
        text = "".join([self._beginning(family), *_lines(family, samples)])
        return text.encode("utf-8", "backslashreplace")

    def _beginning(self, family: Family) -> str:
        if family in self._begun:
            return ""
        self._begun.add(family)
        words = family.help.replace("\\", r"\\").replace("\n", r"\n")
        return f"# HELP {family.name} {words}\n# TYPE {family.name} {family.kind.value}\n"


def _lines(family: Family, samples: Iterable[Sample]) -> Iterable[str]:
    name, names = family.name, family.labels
    for values, value in samples:
        labels = ",".join(
            [f'{label}="{escaped(text)}"' for label, text in zip(names, values, strict=True)]
        )
        if isinstance(value, Histogram):
            yield _histogram(name, labels, value)
        elif labels:
            yield f"{name}{{{labels}}} {_number(value)}\n"
        else:
            yield f"{name} {_number(value)}\n"


def _histogram(name: str, labels: str, histogram: Histogram) -> str:
    before = f"{labels}," if labels else ""
    alone = f"{{{labels}}}" if labels else ""
    bounds = [*map(repr, histogram.bounds), "+Inf"]
    up_to = accumulate(histogram.counts)
    lines = [
        f'{name}_bucket{{{before}le="{bound}"}} {count}\n'
        for bound, count in zip(bounds, up_to, strict=True)
    ]
    lines.append(f"{name}_sum{alone} {histogram.sum!r}\n{name}_count{alone} {histogram.count}\n")
    return "".join(lines)


def escaped(text: str) -> str:
    if "\\" in text or '"' in text or "\n" in text:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text


def _number(value: Value) -> str:
    return repr(value)
