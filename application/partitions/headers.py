"""Headers of a log as a job reads them: it waits until they are in memory."""

from __future__ import annotations

from collections.abc import Callable

from application.background.job import SLICE, Job
from application.ports.log_store import LogStore, NotInMemory
from domain.messages.batch import RecordBatch

HEADERS_PER_STEP = 128


def read_headers(log: LogStore, partition_id: int, offset: int, limit: int) -> Job[list[bytes]]:
    while True:
        try:
            return log.headers(partition_id, offset, limit)
        except NotInMemory as later:
            yield later.loading


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
