"""One partition looked through: its batches, the index by time, its snapshot, its producers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from application.ports.log_store import LogStore
from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch, corrupt
from domain.partitions.partition import Partition
from infrastructure.codecs.checksum import crc32c
from infrastructure.opening import Contents
from interfaces.cli.storage.info import recovered
from interfaces.cli.storage.opened import NotWhole, Place, batches

_MAGIC = 2


class Checked:
    """What was seen in one log."""

    def __init__(self) -> None:
        self.batches = 0
        self.records = 0
        self.size_bytes = 0
        self.start_offset: int | None = None
        self.end_offset = 0
        self.max_timestamp = -1
        #: Of each idempotent producer, its newest batch.
        self.producers: dict[int, tuple[int, int, int]] = {}


def check_log(
    log: LogStore, place: Place, found: Contents, step: Callable[[int], None]
) -> tuple[Checked, list[str]]:
    seen = Checked()
    problems = list(_check_batches(log, place, seen, step))
    try:
        partition = recovered(found, place)
        problems += _check_end(partition, seen)
        # A log that was trimmed to its end has no batch left, and ends where it starts.
        seen.end_offset = max(seen.end_offset, partition.log_start_offset)
        problems += _check_producers(found, place, partition, seen)
    except StorageFailed as damage:
        problems.append(str(damage))
    return seen, problems


def _check_batches(
    log: LogStore, place: Place, seen: Checked, step: Callable[[int], None]
) -> Iterator[str]:
    try:
        for batch in batches(log, place.partition_id):
            yield from _check_batch(log, place.partition_id, batch, seen)
            step(batch.size_bytes)
    except NotWhole as wrong:
        yield f"at offset {wrong.offset}: {wrong}; nothing after it can be looked at"
    except StorageFailed as damage:
        yield str(damage)


def _check_batch(
    log: LogStore, partition_id: int, batch: RecordBatch, seen: Checked
) -> Iterator[str]:
    at = f"the batch at offset {batch.base_offset}"
    if seen.start_offset is None:
        seen.start_offset = seen.end_offset = batch.base_offset
    if batch.magic != _MAGIC:
        yield f"{at} has format {batch.magic}, not {_MAGIC}"
    try:
        batch.check_crc(crc32c)
    except type(corrupt()):
        yield f"{at} has another checksum than its bytes: they were changed after they were stored"
    if batch.base_offset > seen.end_offset:
        yield f"offsets {seen.end_offset} to {batch.base_offset - 1} are missing"
    elif batch.base_offset < seen.end_offset:
        yield f"{at} begins before {seen.end_offset}, where the one before it ends"
    if batch.count != batch.last_offset_delta + 1:
        yield f"{at} has {batch.count} records in {batch.last_offset_delta + 1} offsets"
    if batch.max_timestamp > seen.max_timestamp:
        seen.max_timestamp = batch.max_timestamp
        looked_from = log.at_timestamp(partition_id, batch.max_timestamp)
        if looked_from > batch.last_offset:
            yield (f"{at} is not found by its time: the index says to look from {looked_from} on")
    if batch.producer_id >= 0:
        newest = (batch.producer_epoch, batch.last_sequence, batch.last_offset)
        seen.producers[batch.producer_id] = newest
    seen.batches += 1
    seen.records += batch.count
    seen.size_bytes += batch.size_bytes
    seen.end_offset = batch.last_offset + 1


def _check_end(partition: Partition, seen: Checked) -> Iterator[str]:
    start = seen.start_offset
    if start is not None and start > partition.log_start_offset:
        yield f"offsets {partition.log_start_offset} to {start - 1} are missing"
    if partition.end.next_offset != max(seen.end_offset, partition.log_start_offset):
        yield (
            f"its snapshot says that it ends at {partition.end.next_offset}, its batches end at "
            f"{seen.end_offset}"
        )
    if seen.batches and partition.end.max_timestamp < seen.max_timestamp:
        yield (
            "its snapshot says that the largest timestamp is "
            f"{partition.end.max_timestamp}, a batch has {seen.max_timestamp}"
        )


def _check_producers(
    found: Contents, place: Place, partition: Partition, seen: Checked
) -> Iterator[str]:
    for state in found.partitions.producers(place.partition_id):
        for batch in state.batches:
            if batch.last_offset >= seen.end_offset:
                yield (
                    f"the snapshot of producer {state.producer_id} has a batch up to offset "
                    f"{batch.last_offset}, which is not in the log"
                )
    known = {state.producer_id: state for state in partition.producers}
    for producer_id, (epoch, last_sequence, last_offset) in seen.producers.items():
        now = known.get(producer_id) or partition.producers.recall(producer_id)
        if now is None or not now.batches:
            continue  # expired: it may begin anew
        newest = now.batches[-1]
        told = (now.epoch, newest.last_sequence, newest.last_offset)
        if told != (epoch, last_sequence, last_offset):
            yield (
                f"producer {producer_id} is remembered with epoch, sequence and offset {told}, "
                f"its newest batch has {(epoch, last_sequence, last_offset)}"
            )
