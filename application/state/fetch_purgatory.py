"""FetchPurgatory: fetches and tails that wait until a partition has more records."""

from __future__ import annotations

from operator import methodcaller
from typing import Protocol

from application.state.notifying import notify_each
from domain.partitions.partition import Partition


class DelayedOperation(Protocol):
    def advanced(self, partition: Partition) -> None:
        """A watched partition has new records or another leader epoch, was deleted or has moved, or
        its topic has more partitions.
        """
        ...

    def finish(self) -> None:
        """Complete now: the broker is stopping."""
        ...


class FetchPurgatory:
    def __init__(self) -> None:
        self._watchers: dict[Partition, dict[DelayedOperation, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def watch(self, partitions: list[Partition], watcher: DelayedOperation) -> None:
        self._count += 1
        for partition in partitions:
            self._watchers.setdefault(partition, {})[watcher] = None

    def unwatch(self, partitions: list[Partition], watcher: DelayedOperation) -> None:
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
        faults = notify_each(list(watchers), methodcaller("advanced", partition))
        if faults:
            raise faults[0]

    def release_all(self) -> list[DelayedOperation]:
        """All waiting operations, each once; the caller completes them."""
        return list(dict.fromkeys(w for watchers in self._watchers.values() for w in watchers))
