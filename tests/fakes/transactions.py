"""Transactions in the partitions of a broker in this process, without their coordinator."""

from __future__ import annotations

from collections.abc import Sequence

from crc32c import crc32c

from domain.messages.batch import RecordBatch
from domain.messages.control import EndMarker
from domain.partitions.partition import Partition
from domain.partitions.transactions import AbortedTransaction
from domain.transactions.transaction import TV_0
from tests.fakes.batches import record_batch
from tests.fakes.broker import InProcessBroker


def append_in_transaction(
    fake: InProcessBroker,
    producer_id: int,
    sequence: int = 0,
    epoch: int = 0,
    keys: Sequence[bytes | None] = (None,),
    name: str = "t",
) -> int:
    """Stages a batch, with a record for each key; returns its base offset."""
    partition = fake.partition(name)
    data = record_batch(
        [(key, b"v", (), fake.clock.now_ms()) for key in keys],
        producer_id=producer_id,
        epoch=epoch,
        sequence=sequence,
        transactional=True,
    )
    batch = RecordBatch(memoryview(data))
    appended = partition.append(batch, fake.clock.now_ms(), crc32c)
    if not appended.duplicate:
        fake.core.log.append(
            partition.partition_id, appended.last_offset, data, appended.indexed_timestamp
        )
        fake.broker.commits.touch(partition)
    return appended.base_offset


def end_transaction(
    fake: InProcessBroker, producer_id: int, committed: bool, epoch: int = 0, name: str = "t"
) -> None:
    """Stages a marker."""
    marker = EndMarker(producer_id, epoch, 0, committed)
    fake.broker.messages.transaction_markers.write(fake.partition(name), marker, TV_0)


def aborted(fake: InProcessBroker, partition: Partition | None = None) -> list[AbortedTransaction]:
    """All entries of the transaction index of a partition."""
    partition_id = (partition or fake.partition()).partition_id
    return fake.core.transaction_index.overlapping(partition_id, 0, 2**62)
