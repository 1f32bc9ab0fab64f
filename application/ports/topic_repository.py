from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from domain.topics.topic import Topic


class TopicRepository(Protocol):
    """Changes are staged, and persisted by the next commit."""

    def load(self) -> list[Topic]: ...

    def save(self, topic: Topic) -> None: ...

    def delete(self, topic: Topic) -> None:
        """Deletes the topic, and marks its partitions as doomed: their data must be dropped."""
        ...

    def follow(self, changed: Callable[[Mapping[str, Topic | None]], None]) -> None:
        """Calls back with the topics that another broker has changed, by name; None: deleted."""
        ...

    def reserve_partition_ids(self, count: int) -> tuple[int, ...]:
        """Store ids for new partitions, never reused, not even after a failed commit."""
        ...

    def doomed_partitions(self) -> list[int]:
        """Partitions of deleted topics whose data is not dropped yet, as committed."""
        ...

    def dropped(self, partition_id: int) -> None:
        """All data of a doomed partition is dropped."""
        ...
