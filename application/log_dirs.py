"""DescribeLogDirs: how much is kept of each partition, and how much room there is.

There is one folder. A partition that nobody has used yet has to be loaded to know its size, so
many of them are gone through in slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from application.long_work import LongAnswer, LongWork, Slices
from application.ports.volume import Space, Volume
from application.topics.catalog import Catalog
from application.topics.loading import WORK_AT_ONCE, load


class PartitionSize(NamedTuple):
    topic: str
    partition_index: int
    size_bytes: int


class LogDir(NamedTuple):
    place: str
    space: Space
    sizes: list[PartitionSize]


#: A topic and a partition of it.
Place = tuple[str, int]


class LogDirsService:
    def __init__(self, catalog: Catalog, volume: Volume, long_work: LongWork) -> None:
        self._catalog = catalog
        self.volume = volume
        self._long_work = long_work

    def describe(self, wanted: Iterable[Place] | None) -> LongAnswer[LogDir]:
        """None: every partition. What is not there, or cannot be read, is left out."""
        places = self._all() if wanted is None else iter(dict.fromkeys(wanted))
        return self._long_work.begin(self._slices(places), ends_when_abandoned=True)

    def _all(self) -> Iterator[Place]:
        for topic in list(self._catalog):
            for index in range(len(topic.partition_ids)):
                yield topic.name, index

    def _slices(self, places: Iterator[Place]) -> Slices[LogDir]:
        sizes: list[PartitionSize] = []
        work = 0
        for name, index in places:
            topic = self._catalog.topic(name)
            if topic is not None:
                partition, loading = load(self._catalog, topic, index)
                work += loading
                if partition is not None:
                    sizes.append(PartitionSize(name, index, partition.durable.size_bytes))
            if work >= WORK_AT_ONCE:
                yield None
                work = 0
        return LogDir(self.volume.place, self.volume.space(), sizes)
