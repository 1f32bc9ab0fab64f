"""Checks one partition: batches, timestamp index, snapshot, producers, transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from application.ports.log_store import LogStore
from domain.errors import StorageFailed
from domain.messages.batch import CONTROL, RecordBatch, corrupt
from domain.partitions.partition import Partition
from infrastructure.codecs.checksum import crc32c
from infrastructure.opening import Contents
from interfaces.cli.storage.check_transactions import CheckedTransactions
from interfaces.cli.storage.info import recovered
from interfaces.cli.storage.opened import NotABatch, Place, batches

_MAGIC = 2


class Checked:
    """The batches of one log."""

    def __init__(self) -> None:
        self.batches = 0
        self.records = 0
        self.size_bytes = 0
        self.start_offset: int | None = None
        self.end_offset = 0
        self.max_timestamp = -1
        #: The newest batch of each idempotent producer: epoch, sequence, offset.
        self.producers: dict[int, tuple[int, int, int]] = {}
        #: Below it compaction may have removed records.
        self.compacted_to = 0
        self.transactions = CheckedTransactions()


def check_log(
    log: LogStore, place: Place, found: Contents, step: Callable[[int], None]
) -> tuple[Checked, list[str]]:
    checked = Checked()
    try:
        partition = recovered(found, place)
    except StorageFailed as damage:
        problems = [*_check_batches(log, place, checked, step), str(damage)]
        return checked, list(dict.fromkeys(problems))
    if place.compacted or partition.cleaned.next_offset:
        checked.compacted_to = partition.segment.base_offset
    problems = list(_check_batches(log, place, checked, step))
    problems += _check_end(partition, checked)
    # A log whose records are all deleted ends at its start.
    checked.end_offset = max(checked.end_offset, partition.log_start_offset)
    problems += _check_producers(found, place, partition, checked)
    problems += checked.transactions.problems(partition, found.transaction_index)
    return checked, problems


def _check_batches(
    log: LogStore, place: Place, checked: Checked, step: Callable[[int], None]
) -> Iterator[str]:
    try:
        for batch in batches(log, place.partition_id):
            yield from _check_batch(log, place.partition_id, batch, checked)
            step(batch.size_bytes)
    except NotABatch as wrong:
        yield f"at offset {wrong.offset}: {wrong}; the batches after it are not checked"
    except StorageFailed as damage:
        yield str(damage)


def _check_batch(
    log: LogStore, partition_id: int, batch: RecordBatch, checked: Checked
) -> Iterator[str]:
    at = f"the batch at offset {batch.base_offset}"
    if checked.start_offset is None:
        checked.start_offset = checked.end_offset = batch.base_offset
    if batch.magic != _MAGIC:
        yield f"{at} has format {batch.magic}, not {_MAGIC}"
    try:
        batch.check_crc(crc32c)
    except type(corrupt()):
        yield f"{at} has a wrong checksum: its bytes were changed after they were stored"
    if batch.base_offset > max(checked.end_offset, checked.compacted_to):
        yield f"offsets {checked.end_offset} to {batch.base_offset - 1} are missing"
    elif batch.base_offset < checked.end_offset:
        yield f"{at} overlaps the batch before it, which ends at {checked.end_offset}"
    missing = batch.last_offset_delta + 1 - batch.count
    if missing < 0 or (missing and batch.base_offset >= checked.compacted_to):
        yield f"{at} has {batch.count} records in {batch.last_offset_delta + 1} offsets"
    if batch.count and batch.max_timestamp > checked.max_timestamp:
        checked.max_timestamp = batch.max_timestamp
        indexed = log.at_timestamp(partition_id, batch.max_timestamp)
        if indexed > batch.last_offset:
            yield f"{at} is not found by its timestamp: the index points to offset {indexed}"
    if batch.producer_id >= 0 and not batch.attributes & CONTROL:
        newest = (batch.producer_epoch, batch.last_sequence, batch.last_offset)
        checked.producers[batch.producer_id] = newest
    checked.transactions.add(batch)
    checked.batches += 1
    checked.records += batch.count
    checked.size_bytes += batch.size_bytes
    checked.end_offset = batch.last_offset + 1


def _check_end(partition: Partition, checked: Checked) -> Iterator[str]:
    start = checked.start_offset
    if start is not None and start > max(partition.log_start_offset, checked.compacted_to):
        yield f"offsets {partition.log_start_offset} to {start - 1} are missing"
    if partition.end.next_offset != max(checked.end_offset, partition.log_start_offset):
        yield (
            f"the snapshot ends at offset {partition.end.next_offset}, the batches end at "
            f"{checked.end_offset}"
        )
    if checked.batches and partition.end.max_timestamp < checked.max_timestamp:
        yield (
            f"the largest timestamp of the snapshot is {partition.end.max_timestamp}, of the "
            f"batches {checked.max_timestamp}"
        )


def _check_producers(
    found: Contents, place: Place, partition: Partition, checked: Checked
) -> Iterator[str]:
    for state in found.partitions.producers(place.partition_id):
        for batch in state.batches:
            if batch.last_offset >= checked.end_offset:
                yield (
                    f"the snapshot of producer {state.producer_id} has offset "
                    f"{batch.last_offset}, which is not in the log"
                )
    known = {state.producer_id: state for state in partition.producers}
    for producer_id, (epoch, last_sequence, last_offset) in checked.producers.items():
        now = known.get(producer_id) or partition.producers.recall(producer_id)
        if now is None or not now.batches:
            continue  # expired
        newest = now.batches[-1]
        snapshot = (now.epoch, newest.last_sequence, newest.last_offset)
        if snapshot != (epoch, last_sequence, last_offset):
            yield (
                f"producer {producer_id} has epoch, sequence and offset {snapshot} in the "
                f"snapshot, {(epoch, last_sequence, last_offset)} in its newest batch"
            )
