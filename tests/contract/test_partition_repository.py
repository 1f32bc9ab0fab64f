"""PartitionRepository over every engine: a partition is recovered from its log and snapshot."""

from __future__ import annotations

from typing import Any

import pytest
from crc32c import crc32c

from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.errors import StorageFailed
from domain.messages.batch import RecordBatch
from domain.partitions.partition import Partition
from infrastructure.storage.repositories.partition_repository import StoredPartitionRepository
from tests.contract.engines import OpenStore
from tests.fakes.batches import TIMESTAMP, record_batch

CONFIG = resolve_topic_config({"segment.ms": "4"}, BrokerConfig())
PARTITION_ID = 7


def new_partition() -> Partition:
    return Partition(PARTITION_ID, "orders", 0, CONFIG)


def as_of_the_snapshot(partition_id: int) -> None:
    """The open transactions of a partition that is not loaded."""


def led_here(partition_id: int) -> bool:
    return True


def append(store: OpenStore, partition: Partition, **fields: Any) -> None:
    batch = RecordBatch(memoryview(record_batch(["a", "b", "c"], **fields)))
    appended = partition.append(batch, TIMESTAMP, crc32c)
    store.log.append(
        partition.partition_id, appended.last_offset, batch.buffer, appended.indexed_timestamp
    )


def facts(partition: Partition) -> dict[str, Any]:
    for producer_id in (0, 1):
        if producer_id not in partition.producers:
            partition.producers.recall(producer_id)
    producers = {
        state.producer_id: (
            state.epoch,
            state.last_timestamp,
            [
                (b.first_sequence, b.last_sequence, b.base_offset, b.last_offset, b.timestamp)
                for b in state.batches
            ],
        )
        for state in partition.producers
    }
    return {
        "next_offset": partition.end.next_offset,
        "start_offset": (partition.end.start_offset, partition.log_start_offset),
        "size_bytes": partition.end.size_bytes,
        "high_watermark": partition.high_watermark,
        "max_timestamp": (partition.end.max_timestamp, partition.end.max_timestamp_offset),
        "segment": partition.segment.state(partition.end.appended_bytes),
        "cleaned": partition.cleaned,
        "open": [one[:2] for one in partition.transactions],
        "stable": partition.last_stable_offset,
        "producers": producers,
    }


def fill(store: OpenStore, partition: Partition, batches: int, start: int = 0) -> None:
    for number in range(start, start + batches):
        producer = {"producer_id": number % 2, "epoch": 3, "sequence": number // 2 * 3}
        append(store, partition, timestamp=TIMESTAMP + number, **producer)
    append(store, partition, timestamp=TIMESTAMP - 1)


def test_an_unknown_partition_is_empty(store: OpenStore) -> None:
    partition = new_partition()
    StoredPartitionRepository(store.log, store.state).recover(partition)

    assert partition.end.next_offset == 0
    assert len(partition.producers) == 0


@pytest.mark.parametrize("snapshot_after", [None, 0, 5, 12])
def test_a_partition_is_recovered_from_snapshot_and_log(
    store: OpenStore, snapshot_after: int | None
) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    original = new_partition()
    fill(store, original, snapshot_after or 0)
    if snapshot_after is not None:
        partitions.snapshot(original)
    fill(store, original, 14 - (snapshot_after or 0), start=snapshot_after or 0)
    store.keep()
    original.committed(original.end.copy())

    recovered = new_partition()
    partitions.recover(recovered)

    assert facts(recovered) == facts(original)
    assert recovered.end.next_offset == 16 * 3


def test_more_headers_than_are_read_at_once_are_replayed(store: OpenStore) -> None:
    original = new_partition()
    fill(store, original, 2100)
    store.keep()
    original.committed(original.end.copy())

    recovered = new_partition()
    StoredPartitionRepository(store.log, store.state).recover(recovered)

    assert facts(recovered) == facts(original)


def test_recovery_discards_uncommitted_state(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    fill(store, partition, 3)
    store.keep()
    partition.committed(partition.end.copy())
    before = facts(partition)

    lost = RecordBatch(memoryview(record_batch(["lost"], producer_id=9, epoch=0, sequence=0)))
    partition.append(lost, TIMESTAMP, crc32c)
    partitions.recover(partition)

    assert facts(partition) == before


def test_what_compaction_has_cleaned_is_recovered(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    original = new_partition()
    fill(store, original, 7)
    original.cleaned_up_to(9, 400)
    partitions.snapshot(original)
    store.keep()

    recovered = new_partition()
    partitions.recover(recovered)

    assert recovered.cleaned == original.cleaned == (9, 400)


@pytest.mark.parametrize("more", [0, 2])
def test_a_log_starts_at_the_offset_of_its_snapshot(store: OpenStore, more: int) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    original = new_partition()
    fill(store, original, 7)
    store.keep()
    original.committed(original.end.copy())
    assert original.end.size_bytes == len(store.everything(PARTITION_ID))

    original.delete_records(-1)
    partitions.snapshot(original)
    store.keep()
    trimmed = store.log.trim(PARTITION_ID, original.end.start_offset, 1000)
    original.trimmed(trimmed.size_bytes)
    partitions.snapshot(original)
    for _ in range(more):
        append(store, original)
    store.keep()
    original.committed(original.end.copy())

    recovered = new_partition()
    partitions.recover(recovered)

    assert facts(recovered) == facts(original)
    assert recovered.log_start_offset == 8 * 3
    assert recovered.end.size_bytes == len(store.everything(PARTITION_ID))


def test_pending_trimming_is_known_until_it_is_done(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    for partition_id in (5, PARTITION_ID, 9):
        partitions.save_trimming(partition_id, unfinished=True)
    assert partitions.trimming() == []
    store.keep()
    assert partitions.trimming() == [5, PARTITION_ID, 9]

    partitions.save_trimming(5, unfinished=False)
    assert partitions.forget(PARTITION_ID, 100)
    store.keep()

    assert partitions.trimming() == [9]


def test_a_deleted_snapshot_is_not_used(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    fill(store, partition, 3)
    partitions.snapshot(partition)
    store.keep()

    assert partitions.forget(PARTITION_ID, 100)
    assert store.log.drop(PARTITION_ID, 100)
    store.keep()

    recovered = new_partition()
    partitions.recover(recovered)
    assert recovered.end.next_offset == 0
    assert store.state.scan("partitions") == []
    assert store.state.scan("producers") == []


def produce(store: OpenStore, partition: Partition, *producer_ids: int) -> None:
    for producer_id in producer_ids:
        append(store, partition, producer_id=producer_id, epoch=0, sequence=0)


def known(store: OpenStore) -> list[int]:
    return [int.from_bytes(key[4:], "big") for key, _ in store.state.scan("producers")]


def test_a_snapshot_saves_changed_producers(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    produce(store, partition, *range(20))
    partitions.snapshot(partition)
    store.keep()
    for key, _ in store.state.scan("producers"):
        store.state.put("producers", key, None)
    store.keep()

    produce(store, partition, 30, 31)
    append(store, partition, producer_id=4, epoch=0, sequence=3)
    partitions.snapshot(partition)
    store.keep()
    assert known(store) == [4, 30, 31]


def test_a_returning_producer_is_looked_up(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    produce(store, partition, 5, 6)
    partitions.snapshot(partition)
    append(store, partition, producer_id=6, epoch=0, sequence=3)
    store.keep()

    recovered = new_partition()
    partitions.recover(recovered)
    assert [state.producer_id for state in recovered.producers] == [6]
    retry = record_batch(["a", "b", "c"], producer_id=5, epoch=0, sequence=0)
    appended = recovered.append(RecordBatch(memoryview(retry)), TIMESTAMP, crc32c)
    assert (appended.base_offset, appended.duplicate) == (0, True)
    # Its state: the batches of the snapshot, and those after it.
    state = next(state for state in recovered.producers if state.producer_id == 6)
    assert [batch.base_offset for batch in state.batches] == [3, 6]


def test_many_producers_of_a_deleted_partition_go_in_slices(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    other = Partition(PARTITION_ID + 1, "orders", 1, CONFIG)
    produce(store, other, 1)
    partition = new_partition()
    produce(store, partition, *range(7))
    partitions.snapshot(partition)
    partitions.snapshot(other)
    store.keep()

    outcomes = []
    for _ in range(3):
        outcomes.append(partitions.forget(PARTITION_ID, 3))
        store.keep()
    assert outcomes == [False, False, True]
    assert [key[:4] for key, _ in store.state.scan("producers")] == [b"\0\0\0\x08"]


def test_idle_producers_are_removed_in_slices(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    for number in range(10):
        append(
            store, partition, producer_id=number, epoch=0, sequence=0,
            timestamp=TIMESTAMP + (1000 if number in (2, 9) else 0),
        )  # fmt: skip
    partitions.snapshot(partition)
    store.keep()

    place: bytes | None = b""
    parts = 0
    while place is not None:
        place = partitions.forget_silent(TIMESTAMP + 500, place, 4, as_of_the_snapshot, led_here)
        store.keep()
        parts += 1
    assert parts == 3
    assert known(store) == [2, 9]


def test_a_damaged_producer_does_not_stop_the_removal_of_others(store: OpenStore) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    produce(store, partition, 1, 2, 3)
    partitions.snapshot(partition)
    store.keep()
    (_, (damaged, _), _) = store.state.scan("producers")
    store.state.put("producers", damaged, b"\0" * 5)
    store.keep()

    not_led = lambda partition_id: False  # noqa: E731
    assert partitions.forget_silent(1 << 60, b"", 10, as_of_the_snapshot, not_led) is None
    store.keep()
    assert len(store.state.scan("producers")) == 3
    assert partitions.forget_silent(1 << 60, b"", 10, as_of_the_snapshot, led_here) is None
    store.keep()
    assert [key for key, _ in store.state.scan("producers")] == [damaged]


def test_a_partition_is_the_same_after_a_restart(lasting_store: OpenStore) -> None:
    store = lasting_store
    original = new_partition()
    fill(store, original, 6)
    StoredPartitionRepository(store.log, store.state).snapshot(original)
    fill(store, original, 6, start=6)
    store.keep()
    original.committed(original.end.copy())
    store.reopen()

    recovered = new_partition()
    StoredPartitionRepository(store.log, store.state).recover(recovered)

    assert facts(recovered) == facts(original)


@pytest.mark.parametrize("row", [b"{", b"[]", b'{"end": [1]}', b'{"end": 5}', b"\xff"])
def test_a_damaged_snapshot_is_a_failure_of_the_store(store: OpenStore, row: bytes) -> None:
    """Only requests for this partition fail."""
    store.state.put("partitions", PARTITION_ID.to_bytes(4, "big"), row)
    store.keep()
    with pytest.raises(StorageFailed, match="could not read partition 7"):
        StoredPartitionRepository(store.log, store.state).recover(new_partition())


@pytest.mark.parametrize("row", [b"", b"\0" * 11])
def test_a_damaged_producer_is_a_failure_of_the_store(store: OpenStore, row: bytes) -> None:
    partitions = StoredPartitionRepository(store.log, store.state)
    partition = new_partition()
    produce(store, partition, 5)
    partitions.snapshot(partition)
    store.keep()
    ((key, _),) = store.state.scan("producers")
    store.state.put("producers", key, row)
    store.keep()
    recovered = new_partition()
    partitions.recover(recovered)
    with pytest.raises(StorageFailed, match="could not read partition 7"):
        recovered.producers.recall(5)
