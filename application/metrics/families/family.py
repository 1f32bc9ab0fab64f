"""Family: one metric with name, kind, help and labels; and the readings of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Family:
    name: str
    kind: Kind
    #: One sentence.
    help: str
    labels: tuple[str, ...] = ()


def counter(name: str, text: str, *labels: str) -> Family:
    return Family(name, Kind.COUNTER, text, labels)


def gauge(name: str, text: str, *labels: str) -> Family:
    return Family(name, Kind.GAUGE, text, labels)


def histogram(name: str, text: str, *labels: str) -> Family:
    return Family(name, Kind.HISTOGRAM, text, labels)


@dataclass(frozen=True)
class Histogram:
    """`counts[i]` are as large as `bounds[i]` at the most, and larger than the bound before; the
    last count, which has no bound, are larger than all.
    """

    bounds: Sequence[float]
    counts: Sequence[int]
    sum: float

    @property
    def count(self) -> int:
        return sum(self.counts)


Value = int | float | Histogram
#: The values of the labels, and the value.
Sample = tuple[tuple[str, ...], Value]
#: Some of what there is of a family; what follows it may be more of the same.
Reading = tuple[Family, list[Sample]]
#: Reads something of the broker. Between two readings others may run, and change it.
Source = Callable[[], Iterator[Reading]]

#: So many samples are one reading at the most: far less than a millisecond.
SAMPLES_AT_ONCE = 200


def in_readings(family: Family, samples: Iterator[Sample]) -> Iterator[Reading]:
    """At least one, so that a family without samples is there too."""
    bunch: list[Sample] = []
    whole = 0
    for sample in samples:
        bunch.append(sample)
        if len(bunch) == SAMPLES_AT_ONCE:
            yield family, bunch
            whole += 1
            bunch = []
    if bunch or not whole:
        yield family, bunch
