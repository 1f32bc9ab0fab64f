"""Strays: data in the store that no topic owns. It is named, and never touched.

It should not be there. Who restores half a backup, or meets a bug of ours, still has the bytes.
"""

from __future__ import annotations

from application.ports.log_store import LogStore
from application.ports.topic_repository import TopicRepository
from application.state.catalog import Catalog


def stray_partitions(log: LogStore, topics: TopicRepository, catalog: Catalog) -> list[int]:
    """Store ids of partitions that are neither a topic's nor waiting to be dropped."""
    known = {partition_id for topic in catalog for partition_id in topic.partition_ids}
    known.update(topics.doomed_partitions())
    return [partition_id for partition_id in log.partition_ids() if partition_id not in known]
