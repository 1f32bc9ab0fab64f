"""Requests of scenarios, valid in every version."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.oracle.scenario_run import ScenarioRun, Topic

UNKNOWN_ID = b"\x77" * 16
UNKNOWN_TOPIC = Topic("nobody-has-this-topic", UNKNOWN_ID)
#: Internal topics: Kafka had the first two when it was recorded, but not the third.
OFFSETS, TRANSACTIONS, SHARES = (
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
)


def produce(
    topic: Topic,
    *batches: bytes | bytearray | None,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """One batch per partition, from `partition` on."""
    return ProduceRequest(
        acks=acks,
        timeout_ms=10_000,
        transactional_id=transactional_id,
        topic_data=[
            TopicProduceData(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_data=[
                    PartitionProduceData(
                        index=partition + at, records=None if data is None else memoryview(data)
                    )
                    for at, data in enumerate(batches)
                ],
            )
        ],
    )


def store(run: ScenarioRun, topic: Topic, *batches: bytearray, partition: int = 0) -> None:
    """Appends the batches to one partition; not recorded."""
    for batch in batches:
        response = run.call(produce(topic, batch, partition=partition), ProduceResponse, 13)
        [done] = response.responses[0].partition_responses
        assert done.error_code == 0, done


def delete(run: ScenarioRun, topic: Topic, offset: int) -> None:
    """Moves the log start of the first partition; not recorded."""
    partitions = [DeleteRecordsPartition(partition_index=0, offset=offset)]
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic.name, partitions=partitions)], timeout_ms=10_000
    )
    [done] = run.call(request, DeleteRecordsResponse, 2).topics[0].partitions
    assert done.error_code == 0, done


def fetch(
    *places: tuple[Topic, int, int],
    max_bytes: int = 1 << 20,
    partition_max_bytes: int = 1 << 20,
    max_wait_ms: int = 0,
    min_bytes: int = 0,
    leader_epoch: int = -1,
    **more: Any,
) -> FetchRequest:
    """Of each: topic, partition, offset."""
    topics: dict[Topic, list[FetchPartition]] = {}
    for topic, partition, offset in places:
        topics.setdefault(topic, []).append(
            FetchPartition(
                partition=partition,
                fetch_offset=offset,
                current_leader_epoch=leader_epoch,
                partition_max_bytes=partition_max_bytes,
            )
        )
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[
            FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=partitions)
            for topic, partitions in topics.items()
        ],
        **more,
    )


def list_offsets(
    *places: tuple[Topic, int, int],
    leader_epoch: int = -1,
    isolation_level: int = 0,
    replica_id: int = -1,
) -> ListOffsetsRequest:
    """Of each: topic, partition, timestamp."""
    topics: dict[Topic, list[ListOffsetsPartition]] = {}
    for topic, partition, timestamp in places:
        topics.setdefault(topic, []).append(
            ListOffsetsPartition(
                partition_index=partition, timestamp=timestamp, current_leader_epoch=leader_epoch
            )
        )
    return ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level,
        timeout_ms=5_000,
        topics=[
            ListOffsetsTopic(name=topic.name, partitions=partitions)
            for topic, partitions in topics.items()
        ],
    )
