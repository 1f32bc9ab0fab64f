"""Opens a store read-only, without a broker; refused while a broker uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from application.ports.log_store import LogStore
from domain.errors import StorageFailed
from domain.messages.batch import HEADER_BYTES, RecordBatch
from infrastructure.kafka_folder.files import is_log_folder
from infrastructure.opening import Contents, contents, open_storage, store_of
from infrastructure.storage.engine import ClosedStore, Storage
from infrastructure.storage.errors import StorageUnusable
from interfaces.cli.failures import CommandFailed

_PIECE_BYTES = 4 << 20
_NO_END = 1 << 62


class Place(NamedTuple):
    """A partition of a topic, and its id in the store."""

    topic: str
    number: int
    partition_id: int
    compacted: bool
    topic_id: bytes

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


class NotABatch(Exception):
    """Bytes in the log are not a batch; `offset` is its expected base offset."""

    def __init__(self, why: str, offset: int) -> None:
        super().__init__(why)
        self.offset = offset


def stored_at(store: str) -> ClosedStore:
    """Raises CommandFailed if there is none."""
    with in_words():
        closed = store_of(store)
        if closed.has_store():
            return closed
        if closed.path is not None and is_log_folder(closed.path):
            ways = f"`ottla serve --storage files://{closed.path}` or `ottla import kafka`"
            raise CommandFailed(f"{store} is a folder of Apache Kafka, which is read by {ways}")
        raise CommandFailed(f"no store in {store if closed.path else closed.shown}")


@contextmanager
def in_words() -> Iterator[None]:
    """Turns failures of a store into CommandFailed."""
    try:
        yield
    except (StorageUnusable, StorageFailed) as failure:
        raise CommandFailed(str(failure)) from None


@contextmanager
def opened(store: str) -> Iterator[tuple[Storage, Contents]]:
    closed = stored_at(store)
    with in_words():
        storage = open_storage(closed.url, read_only=True)
        try:
            # Else each log that is in objects would look damaged.
            if storage.objects is not None and storage.objects.sizes().in_objects:
                storage.objects.check()
            yield storage, contents(storage)
        finally:
            storage.commit.close()


def places(found: Contents) -> list[Place]:
    return [
        Place(
            topic.name,
            number,
            partition_id,
            "compact" in topic.configs.get("cleanup.policy", ""),
            topic.topic_id,
        )
        for topic in sorted(found.topics.load(), key=lambda topic: topic.name)
        for number, partition_id in enumerate(topic.partition_ids)
    ]


def batches(log: LogStore, partition_id: int, offset: int = 0) -> Iterator[RecordBatch]:
    """Every batch from an offset on; raises NotABatch."""
    while piece := log.read(partition_id, offset, _NO_END, _PIECE_BYTES, True):
        view = memoryview(piece)
        began = offset
        while view:
            if len(view) < HEADER_BYTES:
                raise NotABatch(f"{len(view)} bytes that are not a batch", offset)
            batch = RecordBatch(view)
            size_bytes = batch.size_bytes
            if not HEADER_BYTES <= size_bytes <= len(view) or batch.last_offset < offset:
                raise NotABatch("bytes that are not a batch", offset)
            batch.buffer = view[:size_bytes]
            yield batch
            offset = batch.last_offset + 1
            view = view[size_bytes:]
        if offset == began:
            return
