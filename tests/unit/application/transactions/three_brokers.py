"""A transaction in three partitions that three brokers lead. Broker 1 coordinates it."""

from __future__ import annotations

from domain.messages.batch import CONTROL, RecordBatch
from infrastructure.storage.repositories.scopes import MARKERS
from tests.fakes.cluster_producer import ClusterProducer
from tests.fakes.shared_store import SharedStore

SETTINGS = {
    "offsets_topic": "on",
    "offsets_topic_num_partitions": "3",
    "transaction_state_log_num_partitions": "3",
    "default_replication_factor": "3",
    "transaction_abort_timed_out_transaction_cleanup_interval_ms": "100",
}


def led_by(producer: ClusterProducer, *node_ids: int) -> list[int]:
    """The partitions that these brokers lead."""
    leaders = {producer.leader(index).config.node_id: index for index in range(3)}
    return [leaders[one] for one in node_ids]


def markers(shared: SharedStore, index: int) -> int:
    partition_id = next(iter(shared.brokers.values())).existing().partition_ids[index]
    stored = shared.data.partitions.get(partition_id)
    batches = [RecordBatch(memoryview(one)) for one in (stored.batches if stored else ())]
    return sum(bool(one.attributes & CONTROL) for one in batches)


def requested(shared: SharedStore) -> int:
    return len(shared.data.tables.get(MARKERS, {}))


def begun(producer: ClusterProducer) -> None:
    """With a record in each partition."""
    assert producer.add(0, 1, 2) == {0}
    for index in range(3):
        assert producer.produce(index) == {0}


def check_ended(shared: SharedStore, producer: ClusterProducer, state: str) -> None:
    assert producer.state == state
    assert [markers(shared, index) for index in range(3)] == [1, 1, 1]
    assert requested(shared) == 0
    for index in range(3):
        partition = producer.leader(index).partition(index=index)
        assert partition.last_stable_offset == partition.high_watermark == 2
