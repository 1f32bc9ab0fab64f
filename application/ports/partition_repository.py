from __future__ import annotations

from typing import Protocol

from domain.configs.topic import TopicConfig
from domain.partitions.partition import Partition


class PartitionRepository(Protocol):
    def load(self, partition_id: int, topic: str, index: int, config: TopicConfig) -> Partition:
        """The partition as the committed log has it: its snapshot, and every header after that."""
        ...

    def snapshot(self, partition: Partition) -> None:
        """Stages a row from which `load` starts, so that it need not read the whole log."""
        ...

    def forget(self, partition_id: int) -> None:
        """Stages the removal of the snapshot of a deleted partition."""
        ...
