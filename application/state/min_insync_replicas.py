"""MinInsyncReplicas: acks=all requires as many copies in the store as min.insync.replicas says.

Kafka counts replicas in sync. Here brokers have no copies: a database and its synchronous standbys
have them. A store that counts none has the one of a topic with one replica, and as in Kafka
min.insync.replicas never requires more than that.
"""

from __future__ import annotations

from application.ports.copies import Copies
from domain.configs.topic import TopicConfig
from domain.errors import NotEnoughReplicas
from domain.partitions.partition import Partition


class MinInsyncReplicas:
    __slots__ = ("_copies",)

    def __init__(self, copies: Copies | None) -> None:
        self._copies = copies

    def is_under(self, config: TopicConfig) -> bool:
        """The store has too few copies for this topic."""
        return self._copies is not None and self._copies.count < config.min_insync_replicas

    def check(self, partition: Partition) -> None:
        """Raises NotEnoughReplicas."""
        if self._copies is not None and self.is_under(partition.config):
            count = self._copies.count
            raise NotEnoughReplicas(
                f"min.insync.replicas of {partition.topic}-{partition.index} is "
                f"{partition.config.min_insync_replicas}, but the storage has {count} "
                f"{'copy' if count == 1 else 'copies'}: the database and its connected "
                f"synchronous standbys, {count - 1} now"
            )
