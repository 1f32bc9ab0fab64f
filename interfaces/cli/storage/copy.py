"""`ottla storage copy` and `compact`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import suppress

from application.ports.commit import at_once
from application.ports.log_store import LogName
from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.errors import StorageFailed
from domain.partitions.partition import INDEX_INTERVAL_BYTES, Partition
from infrastructure.opening import Contents, open_storage, store_of
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.progress import Progress
from interfaces.cli.storage.opened import NotABatch, batches, in_words, opened, stored_at
from interfaces.cli.storage.segments import Segments
from interfaces.terminal.progress import Line, bar

#: The size of a commit: fast, and small enough for every engine.
_COMMIT_BYTES = 32 << 20
_COMMIT_ROWS = 20_000
_NOT_INDEXED = -1


def copy(parsed: argparse.Namespace) -> int:
    with in_words():
        target = store_of(parsed.target)
        if target.exists():
            raise CommandFailed(f"{target.shown} exists already")
    with opened(parsed.store) as (storage, found):
        if found.offsets_place is not None:
            raise CommandFailed(
                f"its committed offsets are in {found.offsets_place}, which belongs to one store: "
                "copy the folder while no broker uses it"
            )
        with target.made_whole() as partial:
            count = _copy_all(storage, found, partial)
    print(f"{target.shown}: {count:,} batches")
    return 0


def _copy_all(storage: Storage, found: Contents, target: str) -> int:
    # Synced when it is closed; before that it is not a copy.
    new = open_storage(target, "os")
    try:
        copying = _Copying(new)
        logs = _logs(found)
        with Progress("copy", storage.info.live_bytes) as progress:
            for partition_id in storage.log.partition_ids():
                segments = _segments(found, partition_id, logs)
                for size_bytes in copying.log(storage, partition_id, segments):
                    progress.step(size_bytes)
            copying.rows(storage, found)
        copying.names(logs)
        copying.commit()
    finally:
        new.commit.close()
    return copying.count


#: By partition id: the name of the log, and configs of its topic.
_Logs = dict[int, tuple[LogName, Mapping[str, str]]]


def _logs(found: Contents) -> _Logs:
    return {
        partition_id: (LogName(topic.name, number, topic.topic_id), topic.configs)
        for topic in found.topics.load()
        for number, partition_id in enumerate(topic.partition_ids)
    }


def _segments(found: Contents, partition_id: int, logs: _Logs) -> Segments:
    name, configs = logs.get(partition_id, (LogName("", 0, b""), {}))
    config = resolve_topic_config(configs, BrokerConfig({}))
    partition = Partition(partition_id, name.topic, name.partition, config)
    # Damage is found, and named, when the batches are read.
    with suppress(StorageFailed):
        found.partitions.recover(partition)
        return Segments(config, partition.segment.base_offset)
    return Segments(config, None)


class _Copying:
    def __init__(self, new: Storage) -> None:
        self._new = new
        self._staged_bytes = 0
        self.count = 0

    def log(self, storage: Storage, partition_id: int, segments: Segments) -> Iterator[int]:
        """Yields the size of each batch."""
        max_timestamp, since_index = -1, INDEX_INTERVAL_BYTES
        try:
            for batch in batches(storage.log, partition_id):
                max_timestamp = max(max_timestamp, batch.max_timestamp)
                since_index += batch.size_bytes
                indexed = _NOT_INDEXED
                if since_index >= INDEX_INTERVAL_BYTES and batch.max_timestamp >= 0:
                    indexed, since_index = max_timestamp, 0
                self._new.log.append(
                    partition_id,
                    batch.last_offset,
                    batch.buffer,
                    indexed,
                    segments.begins_with(batch),
                )
                self.count += 1
                self._staged(batch.size_bytes)
                yield batch.size_bytes
        except NotABatch as wrong:
            raise CommandFailed(
                f"partition {partition_id} of the store, offset {wrong.offset}: {wrong} "
                "(see `ottla storage verify`)"
            ) from None

    def rows(self, storage: Storage, found: Contents) -> None:
        state = storage.state
        for name in state.tables():
            for number, (key, value) in enumerate(state.scan(name)):
                self._new.state.put(name, key, value)
                if number % _COMMIT_ROWS == _COMMIT_ROWS - 1:
                    self.commit()
        # A row of the engine itself: batches have this leader epoch, the next ones no lower one.
        if self._new.raise_leader_epoch is not None:
            registered = found.registrations.load()  # of several brokers
            epochs = (one.leader_epoch for _, one in registered)
            self._new.raise_leader_epoch(max(storage.info.losses, *epochs, 0))

    def names(self, logs: _Logs) -> None:
        for partition_id, (name, _) in logs.items():
            self._new.log.name(partition_id, name)

    def _staged(self, size_bytes: int) -> None:
        self._staged_bytes += size_bytes
        if self._staged_bytes >= _COMMIT_BYTES:
            self.commit()

    def commit(self) -> None:
        self._staged_bytes = 0
        at_once(self._new.commit.commit)


def compact(parsed: argparse.Namespace) -> int:
    closed = stored_at(parsed.store)
    line = Line()
    try:
        with in_words():
            before, after = closed.compact(lambda share: line.draw(bar("compact", share)))
    finally:
        line.clear()
    print(f"{closed.shown}: {before:,} -> {after:,} bytes{closed.not_compacted}")
    return 0
