"""Values of metrics by family and labels."""

from __future__ import annotations

from collections.abc import Iterable

from application.metrics.families.family import Reading, Value

Figures = dict[tuple[str, ...], Value]


def by_labels(readings: Iterable[Reading]) -> Figures:
    return {
        (family.name, *labels): value for family, samples in readings for labels, value in samples
    }
