"""The batches of an entry of the log, as far as they are intact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from domain.messages.batch import HEADER_BYTES, RecordBatch

_MAGIC = 2


class Damaged(NamedTuple):
    """Offsets that cannot be read, inclusive, and why."""

    offset: int
    last_offset: int
    why: str


def batches_of(entry: bytes, last_offset: int) -> Iterator[RecordBatch | Damaged]:
    """Checks headers against each other and against the entry's key, which is its last offset.

    After a wrong header the start of the next batch is unknown: the rest of the entry is damaged.
    """
    view = memoryview(entry)
    next_offset = -1
    while view:
        if len(view) < HEADER_BYTES:
            yield Damaged(max(next_offset, 0), last_offset, f"{len(view)} bytes are not a batch")
            return
        batch = RecordBatch(view)
        size_bytes = batch.size_bytes
        is_last = size_bytes == len(view)
        reaches = batch.last_offset == last_offset if is_last else batch.last_offset < last_offset
        if (
            batch.magic != _MAGIC
            or not HEADER_BYTES <= size_bytes <= len(view)
            or not next_offset <= batch.base_offset <= batch.last_offset
            or not reaches
        ):
            offset = (
                next_offset if next_offset >= 0 else min(max(batch.base_offset, 0), last_offset)
            )
            yield Damaged(offset, last_offset, "the header of the batch does not fit its position")
            return
        batch.buffer = view[:size_bytes]
        yield batch
        next_offset = batch.last_offset + 1
        view = view[size_bytes:]
