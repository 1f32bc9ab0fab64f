"""Our cleaner writes the bytes that Kafka's cleaner writes (compaction/)."""

from __future__ import annotations

from typing import Any

import pytest

from domain.configs.topic import TopicConfig
from domain.messages.batch import CONTROL, HEADER_BYTES, RecordBatch
from domain.messages.control import read_end_marker
from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState
from domain.partitions.transactions import AbortedTransaction
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.compaction import BatchLog
from tests.golden.compaction.cases import cases
from tests.golden.compaction.record import Row, cleaned_by_kafka, recorded
from tests.oracle.kafka import KafkaNotFound, find_jars

ROWS = recorded()
#: Length and checksum of a compressed batch depend on the library.
COMPARED = [name for name in RecordBatch.__slots__ if name not in ("buffer", "length", "crc")]


def log_of(row: Row) -> BatchLog:
    log = BatchLog()
    for each in row["batches"]:
        log.batches.append(batch_of(each))
        log.next_offset = log.batches[-1].last_offset + 1
    return log


def batch_of(hexadecimal: str) -> RecordBatch:
    return RecordBatch(memoryview(bytearray.fromhex(hexadecimal)))


def contents(batch: RecordBatch) -> list[Any]:
    if not batch.codec:
        return [bytes(batch.buffer)]
    payload = BatchCompression().decompress(batch.codec, batch.records, 1 << 20)
    return [payload, *(getattr(batch, name) for name in COMPARED)]


def transactions_of(log: BatchLog) -> tuple[list[AbortedTransaction], list[ProducerState]]:
    partition = Partition(0, "t", 0, TopicConfig())
    index = []
    for batch in log.batches:
        marker = read_end_marker(batch) if batch.attributes & CONTROL else None
        first_offset = partition.transactions.first_offset(batch.producer_id)
        if marker is not None and first_offset is not None and not marker.committed:
            index.append(AbortedTransaction(batch.producer_id, first_offset, batch.base_offset, 0))
        partition.replay(bytes(batch.buffer[:HEADER_BYTES]))
    return index, list(partition.producers)


def has_record(log: BatchLog, offset: int) -> bool:
    return any(batch.base_offset == offset and batch.count for batch in log.batches)


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_pass_leaves_the_batches_that_kafka_leaves(row: Row) -> None:
    log = log_of(row)
    index, states = transactions_of(log)
    for each, expected in zip(row["passes"], row["cleaned"], strict=True):
        log.compact(
            dirty=each["dirty"],
            end=each["end"],
            now_ms=each["now"],
            delete_retention_ms=each["retention"],
            producers={
                one.producer_id: one.batches[-1].last_offset for one in states if one.batches
            },
            marker_epochs={one.producer_id: one.epoch for one in states if not one.batches},
            aborted=[one for one in index if has_record(log, one.last_offset)],
        )
        ours = [contents(batch) for batch in log.batches]
        assert ours == [contents(batch_of(one)) for one in expected]


def test_the_cases_are_the_recorded_ones() -> None:
    assert [(case.name, case.passes) for case in cases()] == [
        (row["name"], row["passes"]) for row in ROWS
    ]


@pytest.mark.long
def test_the_recording_is_what_kafka_does() -> None:
    try:
        jars = find_jars()
    except KafkaNotFound as reason:
        pytest.skip(str(reason))
    assert cleaned_by_kafka(jars, ROWS) == [row["cleaned"] for row in ROWS]
