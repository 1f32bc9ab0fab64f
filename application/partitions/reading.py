"""What jobs read of partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from application.background.job import SLICE, Job
from application.background.loaded import loaded
from application.ports.log_store import LogStore
from application.state.catalog import Catalog
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from domain.topics.topic import Topic

HEADERS_PER_STEP = 128
#: What is shown of partitions does not wait for those whose load makes no progress for so long.
STUCK_MS = 1000


def load_partition(catalog: Catalog, topic: Topic, index: int) -> Job[Partition | None]:
    """None if the topic was deleted. Raises what `Catalog.partition` raises."""

    def load() -> Partition | None:
        if catalog.topic_by_id(topic.topic_id) is None:
            return None
        return catalog.partition(topic, index, waits=False)

    return loaded(load)


def load_all(
    catalog: Catalog,
    places: Iterable[tuple[str, int]],
    loaded_one: Callable[[], None] = lambda: None,
) -> Job[None]:
    """Before they are used. Why one cannot be loaded is an error of its use."""
    for topic_name, index in places:
        topic = catalog.topic(topic_name)
        if topic is not None and not (
            catalog.is_loaded(topic, index) or catalog.is_elsewhere(topic_name, index)
        ):
            with suppress(NotLeaderOrFollower, StorageFailed):
                yield from load_partition(catalog, topic, index)
                loaded_one()
        yield SLICE


def read_headers(log: LogStore, partition_id: int, offset: int, limit: int) -> Job[list[bytes]]:
    return loaded(lambda: log.headers(partition_id, offset, limit))


def first_batch(
    log: LogStore,
    partition_id: int,
    offset: int,
    end_offset: int,
    matches: Callable[[RecordBatch], bool],
) -> Job[RecordBatch | None]:
    """The first one from `offset` up to `end_offset` that matches."""
    while offset < end_offset:
        headers = yield from read_headers(log, partition_id, offset, HEADERS_PER_STEP)
        if not headers:
            break
        for batch in (RecordBatch(memoryview(header)) for header in headers):
            if matches(batch):
                return batch
            offset = batch.last_offset + 1
        yield SLICE
    return None
