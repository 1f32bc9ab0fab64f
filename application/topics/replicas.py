"""Replicas: reassignments and elections, as in a healthy Kafka cluster of one broker.

Each partition has one replica, which leads: there is never anything to do.
"""

from __future__ import annotations

from application.state.catalog import Catalog
from application.topics.create import check_replicas
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    ElectionNotNeeded,
    NoReassignmentInProgress,
    UnknownTopicOrPartition,
)


class ReplicasService:
    def __init__(self, catalog: Catalog, config: BrokerConfig) -> None:
        self._catalog = catalog
        self._config = config

    def reassign(self, topic_name: str, index: int, replicas: list[int] | None) -> None:
        """Without replicas: cancels a reassignment."""
        count = self._partition_count(topic_name)
        if not count:
            raise UnknownTopicOrPartition(f"Unable to find a topic named {topic_name}.")
        if not 0 <= index < count:
            raise UnknownTopicOrPartition(f"Unable to find partition {topic_name}:{index}.")
        if replicas is None:
            raise NoReassignmentInProgress
        check_replicas(replicas, self._config.node_id)

    def elect(self, topic_name: str, index: int) -> BrokerError:
        """Why no leader is elected."""
        count = self._partition_count(topic_name)
        if not count:
            return UnknownTopicOrPartition(f"No such topic as {topic_name}")
        if not 0 <= index < count:
            return UnknownTopicOrPartition(f"No such partition as {topic_name}-{index}")
        return ElectionNotNeeded("Leader election not needed for topic partition.")

    def _partition_count(self, topic_name: str) -> int:
        topic = self._catalog.topic(topic_name)
        return 0 if topic is None else len(topic.partition_ids)
