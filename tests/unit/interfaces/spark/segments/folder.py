"""A data folder for tests, written by the broker's own store, batch by batch.

It is open only during changes: a process can open an LMDB environment only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.partitions.partition import Partition
from domain.topics.topic import Topic
from infrastructure.opening import Contents, contents, open_storage
from infrastructure.storage.engine import Storage
from tests.fakes.batches import Record, record_batch


class DataFolder:
    def __init__(self, path: Path, engine: str = "lmdb") -> None:
        self.path = path
        self.url = f"{engine}://{path}"
        self._ends: dict[int, int] = {}
        self._topics: dict[str, Topic] = {}

    @contextmanager
    def changed(self) -> Iterator[tuple[Storage, Contents]]:
        """One commit."""
        storage = open_storage(self.url, "os")
        try:
            yield storage, contents(storage)
            failures: list[object] = []
            storage.commit.commit(failures.append)
            assert failures == [None]
        finally:
            storage.commit.close()

    def topic(self, name: str, partitions: int = 1) -> tuple[int, ...]:
        """Returns the ids of its partitions."""
        with self.changed() as (_, rows):
            ids = rows.topics.reserve_partition_ids(partitions)
            self._topics[name] = Topic(name, uuid4().bytes, ids, {})
            rows.topics.save(self._topics[name])
        return ids

    def append(
        self,
        partition_id: int,
        records: Sequence[Record],
        indexed: int = -1,
        begins_segment: bool = False,
        **how: Any,
    ) -> int:
        """Appends a batch; returns its first offset. `indexed`: the largest timestamp up to it."""
        start = self._ends.get(partition_id, 0)
        batch = record_batch(records, base_offset=start, **how)
        last_offset = start + len(records) - 1
        self.put(partition_id, (last_offset, batch), indexed=indexed, begins_segment=begins_segment)
        return start

    def put(
        self,
        partition_id: int,
        *batches: tuple[int, bytes | bytearray],
        indexed: int = -1,
        begins_segment: bool = False,
    ) -> None:
        """Appends batches with their last offsets, as one commit."""
        with self.changed() as (storage, _):
            for last_offset, batch in batches:
                storage.log.append(partition_id, last_offset, batch, indexed, begins_segment)
                self._ends[partition_id] = last_offset + 1

    def start_at(self, partition_id: int, offset: int, removed: bool = False) -> None:
        """As DeleteRecords does, which removes the bytes later."""
        with self.changed() as (storage, rows):
            config = resolve_topic_config({}, BrokerConfig({}))
            partition = Partition(partition_id, "", 0, config)
            rows.partitions.recover(partition)
            partition.delete_records(offset)
            rows.partitions.snapshot(partition)
            if removed:
                storage.log.trim(partition_id, offset, 1000)

    def delete(self, name: str, dropped: bool = True) -> None:
        topic = self._topics.pop(name)
        with self.changed() as (storage, rows):
            rows.topics.delete(topic)
            if dropped:
                for partition_id in topic.partition_ids:
                    storage.log.drop(partition_id, 1000)
