"""Reads all batches of the folder once, before anything is written: checksums, offsets, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from zlib import crc32

from domain.messages.batch import CONTROL, RecordBatch
from infrastructure.kafka_folder.folder import KafkaFolder
from infrastructure.kafka_folder.producer_snapshot import SnapshotEntry
from interfaces.cli.kafka_import.plan import Facts, PartitionPlan, Plan


class Counting:
    """Facts of consecutive batches."""

    def __init__(self) -> None:
        self.facts = Facts()

    def add(self, batch: RecordBatch) -> None:
        before = self.facts
        self.facts = Facts(
            before.base_offset if before.batches else batch.base_offset,
            batch.last_offset + 1,
            before.batches + 1,
            before.records + (0 if batch.attributes & CONTROL else batch.count),
            before.size_bytes + batch.size_bytes,
            crc32(batch.buffer, before.checksum),
        )


def check_logs(folder: KafkaFolder, plan: Plan, step: Callable[[int], None]) -> None:
    """Completes the plan. Raises FolderRefused."""
    for topic in plan.topics:
        is_compacted = "compact" in topic.configs.get("cleanup.policy", "")
        for partition in topic.partitions:
            _check_log(folder, partition, step)
            if partition.gap_end and not is_compacted and not partition.cleaned_offset:
                plan.skip(
                    f"offsets of {partition} below {partition.gap_end}",
                    "some are missing, though the topic was not compacted",
                )
            if partition.log.cut_bytes:
                plan.notes.append(
                    f"{partition}: the last {partition.log.cut_bytes:,} bytes are no whole batch"
                )
            _, producers = partition.log.producers(partition.facts.end_offset)
            note_unfinished(plan, partition, producers)


def note_unfinished(
    plan: Plan, partition: PartitionPlan, producers: Iterable[SnapshotEntry]
) -> None:
    unfinished = {one.producer_id for one in plan.transactions if one.is_open or one.is_prepared}
    for one in producers:
        if one.first_offset >= 0 and one.producer_id not in unfinished:
            plan.notes.append(
                f"{partition}: a transaction of producer {one.producer_id} is open, and no "
                "transactional id has it (`ottla txn abort`)"
            )


def check_end(folder: KafkaFolder, plan: PartitionPlan, end_offset: int) -> None:
    """Raises FolderRefused."""
    place = plan.topic, plan.number
    folder.check_end(place, plan.log, end_offset)
    if plan.is_replicated:
        folder.check_replicated(place, plan.log, end_offset)


def _check_log(folder: KafkaFolder, plan: PartitionPlan, step: Callable[[int], None]) -> None:
    log = plan.log
    counting = Counting()
    next_offset = log.start_offset
    for _, batch in log.batches():
        has_gap = batch.base_offset > next_offset
        if has_gap or batch.count <= batch.last_offset_delta:
            plan.gap_end = batch.base_offset if has_gap else batch.last_offset + 1
        next_offset = batch.last_offset + 1
        counting.add(batch)
        step(batch.size_bytes)
    end_offset = max(next_offset, log.base_offset, log.start_offset)
    check_end(folder, plan, end_offset)
    plan.facts = counting.facts._replace(end_offset=end_offset)
