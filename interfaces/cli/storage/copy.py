"""`ottla storage copy` and `compact`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from application.ports.commit import at_once
from domain.partitions.partition import INDEX_INTERVAL_BYTES
from infrastructure.opening import folder_of, open_storage
from infrastructure.storage.engine import Storage
from interfaces.cli.failures import CommandFailed
from interfaces.cli.progress import Progress
from interfaces.cli.storage.opened import NotABatch, batches, in_words, opened, stored_at
from interfaces.terminal.progress import Line, bar

#: The size of a commit: fast, and small enough for every engine.
_COMMIT_BYTES = 32 << 20
_COMMIT_ROWS = 20_000
_NOT_INDEXED = -1


def copy(parsed: argparse.Namespace) -> int:
    with in_words():
        target = folder_of(parsed.target)
    if target.path.exists():
        raise CommandFailed(f"{target.path} exists already")
    with opened(parsed.store) as (storage, found):
        if found.offsets_place is not None:
            raise CommandFailed(
                f"its committed offsets are in {found.offsets_place}, which belongs to one store: "
                "copy the folder while no broker uses it"
            )
        with target.made_whole() as partial:
            count = _copy_all(storage, partial)
    print(f"{target.path}: {count:,} batches")
    return 0


def _copy_all(storage: Storage, target: str) -> int:
    # Synced when it is closed; before that it is not a copy.
    new = open_storage(target, "os")
    try:
        copying = _Copying(new)
        with Progress("copy", storage.info.live_bytes) as progress:
            for partition_id in storage.log.partition_ids():
                for size_bytes in copying.log(storage, partition_id):
                    progress.step(size_bytes)
            copying.rows(storage)
        copying.commit()
    finally:
        new.commit.close()
    return copying.count


class _Copying:
    def __init__(self, new: Storage) -> None:
        self._new = new
        self._staged_bytes = 0
        self.count = 0

    def log(self, storage: Storage, partition_id: int) -> Iterator[int]:
        """Yields the size of each batch."""
        max_timestamp, since_index = -1, INDEX_INTERVAL_BYTES
        try:
            for batch in batches(storage.log, partition_id):
                max_timestamp = max(max_timestamp, batch.max_timestamp)
                since_index += batch.size_bytes
                indexed = _NOT_INDEXED
                if since_index >= INDEX_INTERVAL_BYTES and batch.max_timestamp >= 0:
                    indexed, since_index = max_timestamp, 0
                self._new.log.append(partition_id, batch.last_offset, batch.buffer, indexed)
                self.count += 1
                self._staged(batch.size_bytes)
                yield batch.size_bytes
        except NotABatch as wrong:
            raise CommandFailed(
                f"partition {partition_id} of the store, offset {wrong.offset}: {wrong} "
                "(see `ottla storage verify`)"
            ) from None

    def rows(self, storage: Storage) -> None:
        state = storage.state
        for name in state.tables():
            for number, (key, value) in enumerate(state.scan(name)):
                self._new.state.put(name, key, value)
                if number % _COMMIT_ROWS == _COMMIT_ROWS - 1:
                    self.commit()

    def _staged(self, size_bytes: int) -> None:
        self._staged_bytes += size_bytes
        if self._staged_bytes >= _COMMIT_BYTES:
            self.commit()

    def commit(self) -> None:
        self._staged_bytes = 0
        at_once(self._new.commit.commit)


def compact(parsed: argparse.Namespace) -> int:
    folder = stored_at(parsed.store)
    line = Line()
    try:
        with in_words():
            before, after = folder.compact(lambda share: line.draw(bar("compact", share)))
    finally:
        line.clear()
    print(f"{folder.path}: {before:,} -> {after:,} bytes")
    return 0
