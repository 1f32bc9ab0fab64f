"""Batches of a partition as the store has them: how many records, how large, how compressed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from interfaces.spark.reports.histogram import Histogram

if TYPE_CHECKING:
    import numpy


_NUMBERS = ("batchOffset", "batchRecords", "batchBytes", "batchOpenedBytes")


class Batch(NamedTuple):
    offset: int
    records: int
    stored_bytes: int
    opened_bytes: int
    codec: str


class Batches:
    """A range may begin in the middle of a batch, so its first one is counted when it is known
    whether the range before it ended in the same batch."""

    def __init__(self) -> None:
        self.first: Batch | None = None
        self.last_offset = -1
        #: By codec: batches, records, bytes stored, bytes opened.
        self.codecs: dict[str, list[int]] = {}
        self.records, self.sizes = Histogram(), Histogram()

    def add(self, columns: Mapping[str, Any]) -> None:
        """Of records in their order: the columns of the batch that each of them came in."""
        import numpy

        offsets = columns["batchOffset"]
        before = numpy.concatenate([[self.last_offset], offsets[:-1]])
        starts = numpy.flatnonzero(offsets != before)
        if not len(starts):
            return
        self.last_offset = int(offsets[-1])
        found = {name: column[starts] for name, column in columns.items()}
        if self.first is None:
            offset, records, stored, opened = (int(found[name][0]) for name in _NUMBERS)
            self.first = Batch(offset, records, stored, opened, str(found["codec"][0]))
            found = {name: column[1:] for name, column in found.items()}
        self._count(
            found["batchRecords"], found["batchBytes"], found["batchOpenedBytes"], found["codec"]
        )

    def follow(self, after: Batches) -> None:
        if after.first is not None and after.first.offset != self.last_offset:
            self._count_one(after.first)
        self.last_offset = max(self.last_offset, after.last_offset)
        self.merge(after)

    def merge(self, other: Batches) -> None:
        for codec, counts in other.codecs.items():
            self._sum(codec, counts)
        self.records.merge(other.records)
        self.sizes.merge(other.sizes)

    def _count_one(self, batch: Batch) -> None:
        import numpy

        each = (batch.records, batch.stored_bytes, batch.opened_bytes, batch.codec)
        self._count(*(numpy.array([value]) for value in each))

    def _count(
        self,
        records: numpy.ndarray,
        stored: numpy.ndarray,
        opened: numpy.ndarray,
        codecs: numpy.ndarray,
    ) -> None:
        self.records.add(records)
        self.sizes.add(stored)
        for codec in sorted(set(codecs.tolist())):
            those = codecs == codec
            sums = [int(column[those].sum()) for column in (records, stored, opened)]
            self._sum(codec, [int(those.sum()), *sums])

    def _sum(self, codec: str, counts: list[int]) -> None:
        sums = self.codecs.setdefault(codec, [0, 0, 0, 0])
        for at, count in enumerate(counts):
            sums[at] += count

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "last_offset": self.last_offset,
            "codecs": self.codecs,
            "records": self.records.to_json(),
            "sizes": self.sizes.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Batches:
        made = cls()
        made.first = Batch(*data["first"]) if data["first"] else None
        made.last_offset, made.codecs = data["last_offset"], data["codecs"]
        made.records = Histogram.from_json(data["records"])
        made.sizes = Histogram.from_json(data["sizes"])
        return made
