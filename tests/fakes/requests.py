"""Short builders of Produce and Fetch for topic `t` and of Metadata, and readers of responses."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import record_batch


def produce(value: str = "v", acks: int = -1, index: int = 0) -> ProduceRequest:
    data = PartitionProduceData(index=index, records=memoryview(record_batch([value])))
    return ProduceRequest(acks=acks, topic_data=[TopicProduceData(name="t", partition_data=[data])])


def fetch(max_wait_ms: int = 500, offset: int = 0) -> FetchRequest:
    data = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[data])]
    )


def metadata(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


def kinds(responses: list[Any]) -> list[str]:
    return [type(one).__name__.removesuffix("Response") for one in responses]


def offsets(responses: list[Any]) -> list[int]:
    return [one.responses[0].partition_responses[0].base_offset for one in responses]
