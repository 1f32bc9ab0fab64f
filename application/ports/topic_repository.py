from __future__ import annotations

from typing import Protocol

from domain.topics.topic import Topic


class TopicRepository(Protocol):
    """Staged like everything else: what is saved here is kept by the next commit."""

    def load(self) -> list[Topic]: ...

    def save(self, topic: Topic) -> None: ...

    def delete(self, topic: Topic) -> None:
        """Forgets the topic and remembers that its partitions' data is to be dropped."""
        ...

    def reserve_partition_ids(self, count: int) -> tuple[int, ...]:
        """Store ids for new partitions; none is given twice, not even after a failed commit."""
        ...

    def doomed_partitions(self) -> list[int]:
        """Committed: partitions of deleted topics whose data has not been dropped yet."""
        ...

    def dropped(self, partition_id: int) -> None:
        """Nothing of a doomed partition is left."""
        ...
