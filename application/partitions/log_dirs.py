"""DescribeLogDirs: how much is kept of each partition, and how much room there is.

There is one folder. A partition that nobody has used yet has to be loaded to know its size, so
many of them are gone through in slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from application.background.job import SLICE, Job
from application.background.runner import JobResult, Runner
from application.ports.volume import Space, Volume
from application.state.catalog import Catalog
from domain.errors import NotLeaderOrFollower, StorageFailed


class PartitionSize(NamedTuple):
    topic: str
    partition_index: int
    size_bytes: int


class LogDir(NamedTuple):
    path: str
    space: Space
    sizes: list[PartitionSize]


#: A topic and a partition of it.
TopicPartition = tuple[str, int]


class LogDirsService:
    def __init__(self, catalog: Catalog, volume: Volume, background: Runner) -> None:
        self._catalog = catalog
        self.volume = volume
        self._background = background

    def describe(self, wanted: Iterable[TopicPartition] | None) -> JobResult[LogDir]:
        """None: every partition. What is not there, or cannot be read, is left out."""
        places = self._all() if wanted is None else iter(dict.fromkeys(wanted))
        return self._background.run(self._describe(places), ends_when_abandoned=True)

    def _all(self) -> Iterator[TopicPartition]:
        for topic in list(self._catalog):
            for index in range(len(topic.partition_ids)):
                yield topic.name, index

    def _describe(self, places: Iterator[TopicPartition]) -> Job[LogDir]:
        sizes: list[PartitionSize] = []
        for name, index in places:
            topic = self._catalog.topic(name)
            if topic is not None:
                with suppress(NotLeaderOrFollower, StorageFailed):
                    partition = self._catalog.partition(topic, index)
                    if partition is not None:
                        sizes.append(PartitionSize(name, index, partition.durable.size_bytes))
            yield SLICE
        return LogDir(self.volume.path, self.volume.space(), sizes)
