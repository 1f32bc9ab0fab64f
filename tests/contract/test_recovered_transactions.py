"""PartitionRepository over every engine: transactions are recovered with their partition."""

from __future__ import annotations

from collections.abc import Container

import pytest
from crc32c import crc32c

from domain.messages.control import EndMarker
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from tests.contract.engines import OpenStore
from tests.contract.test_partition_repository import (
    PARTITION_ID,
    append,
    as_of_the_snapshot,
    facts,
    known,
    led_here,
    new_partition,
)
from tests.fakes.batches import TIMESTAMP


@pytest.mark.parametrize("snapshot_after", [0, 1, 2, 3, 4, 5])
def test_transactions_are_recovered_from_snapshot_and_log(
    store: OpenStore, snapshot_after: int
) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    original = new_partition()
    for step in range(6):
        if step == snapshot_after:
            partitions.snapshot(original)
        if step in (2, 4):
            marker = EndMarker(step // 2 - 1, 3, 0, committed=False)
            batch, appended = original.append_marker(marker, TIMESTAMP, crc32c, 2)
            store.log.append(PARTITION_ID, appended.last_offset, batch.buffer)
            original.transactions.last_aborted_offset = appended.last_offset
        else:
            epoch, sequence = {3: (2, 3), 5: (3, 0)}.get(step, (2, 0))
            append(
                store, original, transactional=True,
                producer_id=step % 2, epoch=epoch, sequence=sequence,
            )  # fmt: skip
    store.keep()
    original.committed(original.end.copy())

    recovered = new_partition()
    partitions.recover(recovered)

    assert recovered.transactions.last_aborted_offset == 10
    assert facts(recovered) == facts(original)


def test_a_producer_with_an_open_transaction_stays(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    for producer_id in (1, 2, 3):
        append(store, partition, transactional=True, producer_id=producer_id, epoch=0, sequence=0)
    partition.append_marker(EndMarker(2, 0, 4, committed=True), TIMESTAMP, crc32c, 0)
    partitions.snapshot(partition)
    store.keep()

    assert partitions.forget_silent(TIMESTAMP + 1, b"", 100, as_of_the_snapshot, led_here) is None
    store.keep()

    assert known(store) == [1, 3]
    recovered = new_partition()
    partitions.recover(recovered)
    assert sorted(state.producer_id for state in recovered.producers) == [1, 3]


def test_a_producer_goes_if_its_transaction_has_ended_since_the_snapshot(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    for producer_id in (1, 2):
        append(store, partition, transactional=True, producer_id=producer_id, epoch=0, sequence=0)
    partitions.snapshot(partition)
    partition.append_marker(EndMarker(2, 0, 4, committed=True), TIMESTAMP, crc32c, 0)
    store.keep()

    def transactions(partition_id: int) -> Container[int] | None:
        return partition.transactions if partition_id == partition.partition_id else None

    assert partitions.forget_silent(TIMESTAMP + 1, b"", 100, transactions, led_here) is None
    store.keep()
    assert known(store) == [1]


def test_the_coordinator_epoch_is_recovered_from_a_snapshot(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    append(store, partition, transactional=True, producer_id=2, epoch=0, sequence=0)
    partition.append_marker(EndMarker(2, 0, 4, committed=True), TIMESTAMP, crc32c, 0)
    partitions.snapshot(partition)
    store.keep()

    recovered = new_partition()
    partitions.recover(recovered)
    state = recovered.producers.recall(2)
    assert state is not None
    assert (state.coordinator_epoch, len(state.batches)) == (4, 1)
