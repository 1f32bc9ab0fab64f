"""What it costs to load partitions that nobody has used yet, for those who go through many.

A topic's partitions are loaded with the first use of each; after a crash that means to read up to a
thousand headers.
"""

from __future__ import annotations

from application.topics.catalog import Catalog
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.partitions.partition import HEADER_READ_BYTES, Partition
from domain.topics.topic import Topic

#: In one pass of the loop, in partitions that are looked at,
WORK_AT_ONCE = 1000
#: of which one that has to be loaded counts as so many,
LOADING_WORK = 50
#: and each header that is read for it as so many more.
HEADER_WORK = 4


def load(catalog: Catalog, topic: Topic, index: int) -> tuple[Partition | None, int]:
    """The partition, None where there is none or it cannot be read; and how much work it was."""
    loaded = catalog.is_loaded(topic, index)
    try:
        partition = catalog.partition(topic, index)
    except (NotLeaderOrFollower, StorageFailed):
        return None, LOADING_WORK  # the catalogue has said so in the log
    if loaded or partition is None:
        return partition, 1
    headers = partition.bytes_since_snapshot // HEADER_READ_BYTES
    return partition, LOADING_WORK + headers * HEADER_WORK
