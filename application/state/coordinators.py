"""Coordinators: which node coordinates a group or a transaction, as in Kafka.

It is the leader of one partition of `__consumer_offsets` or `__transaction_state`: the one that the
group id or the transactional id chooses.
"""

from __future__ import annotations

from application.ports.placement import Placement
from application.state.catalog import Catalog
from domain.cluster.nodes import NO_LEADER
from domain.errors import CoordinatorNotAvailable, NotCoordinator
from domain.topics.internal_records import partition_of


class Coordinators:
    """Of all groups, or of all transactions."""

    def __init__(self, topic_name: str, catalog: Catalog, placement: Placement) -> None:
        self._topic_name = topic_name
        self._catalog = catalog
        self._placement = placement

    def node_id(self, key: str) -> int:
        """-1: none, because the topic is not created yet, or its partition has no leader."""
        if self._placement.is_alone:
            return self._placement.node_id
        topic = self._catalog.topic(self._topic_name)
        if topic is None:
            return NO_LEADER.node_id
        ids = topic.partition_ids
        return self._placement.leader(ids[partition_of(key, len(ids))]).node_id

    def is_here(self, key: str) -> bool:
        return self._placement.is_alone or self.node_id(key) == self._placement.node_id

    def check_here(self, key: str) -> None:
        """Raises NotCoordinator or CoordinatorNotAvailable."""
        if self.is_here(key):
            return
        if self.node_id(key) == NO_LEADER.node_id:
            raise CoordinatorNotAvailable(f"No node coordinates {key} now.")
        raise NotCoordinator(f"Another node coordinates {key}.")
