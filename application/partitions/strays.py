"""Stray partitions: data in the store that belongs to no topic. They are logged and never deleted.

After a partial restore, or a bug, the data can still be saved.
"""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.ports.topic_repository import TopicRepository
from application.state.catalog import Catalog


def stray_partitions(log: LogStore, topics: TopicRepository, catalog: Catalog) -> list[int]:
    """Store ids of partitions that belong to no topic and are not being deleted."""
    known = {partition_id for topic in catalog for partition_id in topic.partition_ids}
    known.update(topics.doomed_partitions())
    return [partition_id for partition_id in log.partition_ids() if partition_id not in known]
