"""Log dirs: sizes of partitions, and the space of the volume.

There is one log dir, so replicas do not move. A partition is loaded to know its size, so many are
described in slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from application.background.job import SLICE, Job
from application.background.runner import JobResult, Runner
from application.partitions.reading import load_partition
from application.ports.volume import Space, Volume
from application.state.catalog import Catalog
from domain.errors import (
    LogDirNotFound,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicOrPartition,
)


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

    def describe(self, partitions: Iterable[TopicPartition] | None) -> JobResult[LogDir]:
        """None: all partitions. Unknown and unreadable ones are left out, as in Kafka."""
        found = (
            self._catalog.all_places() if partitions is None else iter(dict.fromkeys(partitions))
        )
        return self._background.run(self._describe(found), ends_when_abandoned=True)

    def move(self, topic_name: str, index: int, path: str) -> None:
        """Raises if the log dir, or else the partition, does not exist."""
        if path != self.volume.path:
            raise LogDirNotFound
        topic = self._catalog.topic(topic_name)
        if topic is None or not 0 <= index < len(topic.partition_ids):
            raise UnknownTopicOrPartition

    def _describe(self, partitions: Iterator[TopicPartition]) -> Job[LogDir]:
        sizes: list[PartitionSize] = []
        for name, index in partitions:
            topic = self._catalog.topic(name)
            if topic is not None:
                with suppress(NotLeaderOrFollower, StorageFailed):
                    partition = yield from load_partition(self._catalog, topic, index)
                    if partition is not None:
                        sizes.append(PartitionSize(name, index, partition.durable.size_bytes))
            yield SLICE
        return LogDir(self.volume.path, self.volume.space(), sizes)
