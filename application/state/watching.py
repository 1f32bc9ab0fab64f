"""Watching: who waits for a partition to go on. Kafka calls it the fetch purgatory."""

from __future__ import annotations

from operator import methodcaller
from typing import Protocol

from application.state.telling import tell_each
from domain.partitions.partition import Partition


class Watcher(Protocol):
    def advanced(self, partition: Partition) -> None:
        """A watched partition has more to read, or is gone; or its topic has more partitions."""
        ...

    def finish(self) -> None:
        """Nobody is to wait any more."""
        ...


class Watching:
    def __init__(self) -> None:
        self._watchers: dict[Partition, dict[Watcher, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def watch(self, partitions: list[Partition], watcher: Watcher) -> None:
        self._count += 1
        for partition in partitions:
            self._watchers.setdefault(partition, {})[watcher] = None

    def unwatch(self, partitions: list[Partition], watcher: Watcher) -> None:
        self._count -= 1
        for partition in partitions:
            watchers = self._watchers.get(partition)
            if watchers is not None:
                watchers.pop(watcher, None)
                if not watchers:
                    del self._watchers[partition]

    def advanced(self, partition: Partition) -> None:
        watchers = self._watchers.get(partition)
        if watchers is None:
            return
        faults = tell_each(list(watchers), methodcaller("advanced", partition))
        if faults:
            raise faults[0]

    def release_all(self) -> list[Watcher]:
        """Everybody who waits, once: the broker is stopping."""
        return list(dict.fromkeys(w for watchers in self._watchers.values() for w in watchers))
