"""One plain request for each API that is served, in any of its versions.

It names the topic `t` where the API knows topics, by TOPIC_ID where the version wants an id.
"""

from __future__ import annotations

from collections.abc import Callable

from interfaces.kafka.wire.messages import (
    api_versions,
    create_partitions,
    create_topics,
    delete_topics,
    describe_cluster,
    describe_topic_partitions,
    fetch,
    init_producer_id,
    list_offsets,
    metadata,
    produce,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch

TOPIC_ID = b"\7" * 16

REQUESTS: dict[str, Callable[[int], Request]] = {
    "produce": lambda version: produce.ProduceRequest(
        acks=-1,
        topic_data=[
            produce.TopicProduceData(
                name="t" if version < 13 else "",
                topic_id=TOPIC_ID if version >= 13 else bytes(16),
                partition_data=[
                    produce.PartitionProduceData(index=0, records=memoryview(record_batch(["a"])))
                ],
            )
        ],
    ),
    "fetch": lambda version: fetch.FetchRequest(
        topics=[
            fetch.FetchTopic(
                topic="t" if version < 13 else "",
                topic_id=TOPIC_ID if version >= 13 else bytes(16),
                partitions=[fetch.FetchPartition(partition=0)],
            )
        ],
    ),
    "list_offsets": lambda version: list_offsets.ListOffsetsRequest(
        topics=[
            list_offsets.ListOffsetsTopic(
                name="t", partitions=[list_offsets.ListOffsetsPartition(partition_index=0)]
            )
        ],
    ),
    "metadata": lambda version: metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name="t")]
    ),
    "api_versions": lambda version: api_versions.ApiVersionsRequest(
        client_software_name="c", client_software_version="1"
    ),
    "create_topics": lambda version: create_topics.CreateTopicsRequest(
        topics=[create_topics.CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    ),
    "delete_topics": lambda version: (
        delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name="t")])
        if version >= 6
        else delete_topics.DeleteTopicsRequest(topic_names=["t"])
    ),
    "init_producer_id": lambda version: init_producer_id.InitProducerIdRequest(
        transactional_id=None
    ),
    "create_partitions": lambda version: create_partitions.CreatePartitionsRequest(
        topics=[create_partitions.CreatePartitionsTopic(name="t", count=2, assignments=None)]
    ),
    "describe_cluster": lambda version: describe_cluster.DescribeClusterRequest(),
    "describe_topic_partitions": lambda version: (
        describe_topic_partitions.DescribeTopicPartitionsRequest(
            topics=[describe_topic_partitions.TopicRequest(name="t")]
        )
    ),
}
