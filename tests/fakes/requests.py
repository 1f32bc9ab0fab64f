"""Requests as they go over the wire, for tests that talk to sessions."""

from __future__ import annotations

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.in_process import Client, InProcessBroker


def frame(request: Request, version: int, correlation_id: int = 1) -> bytes:
    """With request header and length."""
    head = request.api_key.to_bytes(2, "big") + version.to_bytes(2, "big")
    head += correlation_id.to_bytes(4, "big") + b"\0\x04test"
    if request.is_flexible(version):
        head += b"\0"
    body = b"".join(request.encode(version))
    return (len(head) + len(body)).to_bytes(4, "big") + head + body


def produce(
    topic: str, *, value: bytes = b"x" * 1000, timestamp: int = TIMESTAMP, acks: int = -1
) -> bytes:
    """Produce v9 of one record for partition 0."""
    batch = memoryview(record_batch([value], timestamp=timestamp))
    data = [PartitionProduceData(index=0, records=batch)]
    topics = [TopicProduceData(name=topic, partition_data=data)]
    return frame(ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics), 9)


def create_topic(broker: InProcessBroker, client: Client, topic: str) -> None:
    """As clients do it: Metadata creates the topic, and names it the second time."""
    for _ in range(2):
        client.receive(frame(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 4))
        broker.end_pass()
        client.take()
