"""DescribeLogDirs: how much is kept of each partition, and how much room there is.

There is one folder. A partition that nobody has used yet has to be loaded to know its size, so
many of them are gone through in slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from application.pending import Pending
from application.ports.scheduler import Scheduler
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


class Describing(Pending[LogDir | Exception]):
    """One request's, as far as it has come; resolved with a fault of ours where there is one."""

    def __init__(self, places: Iterator[Place]) -> None:
        super().__init__()
        self.places = places
        self.sizes: list[PartitionSize] = []

    def abandon(self) -> None:
        super().abandon()
        self.places = iter(())


class LogDirsService:
    def __init__(self, catalog: Catalog, volume: Volume, scheduler: Scheduler) -> None:
        self._catalog = catalog
        self.volume = volume
        self._scheduler = scheduler

    def describe(self, wanted: Iterable[Place] | None) -> Describing:
        """None: every partition. What is not there, or cannot be read, is left out."""
        places = self._all() if wanted is None else iter(dict.fromkeys(wanted))
        request = Describing(places)
        self._go_on(request)
        return request

    def _all(self) -> Iterator[Place]:
        for topic in list(self._catalog):
            for index in range(len(topic.partition_ids)):
                yield topic.name, index

    def _go_on(self, request: Describing) -> None:
        try:
            if not self._slice(request):
                self._scheduler.soon(lambda: self._go_on(request))
                return
            result: LogDir | Exception = LogDir(
                self.volume.place, self.volume.space(), request.sizes
            )
        except Exception as fault:
            result = fault
        request.resolve(result)

    def _slice(self, request: Describing) -> bool:
        """True when nothing is left to be looked at."""
        work = 0
        for name, index in request.places:
            topic = self._catalog.topic(name)
            if topic is not None:
                partition, loading = load(self._catalog, topic, index)
                work += loading
                if partition is not None:
                    size_bytes = partition.durable.size_bytes
                    request.sizes.append(PartitionSize(name, index, size_bytes))
            if work >= WORK_AT_ONCE:
                return False
        return True
