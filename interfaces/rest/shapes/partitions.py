"""Partitions and their one replica as JSON."""

from __future__ import annotations

from typing_extensions import TypedDict

from domain.partitions.partition import Partition
from interfaces.rest.shapes.common import ListMetadata, Metadata, Related, resource
from interfaces.rest.urls import Urls


class PartitionBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    topic_name: str
    partition_id: int
    leader: Related
    replicas: Related
    reassignment: Related
    #: null: it cannot be read.
    log_start_offset: int | None
    log_end_offset: int | None


class PartitionList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[PartitionBody]


class OffsetsBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    topic_name: str
    partition_id: int
    beginning_offset: int
    end_offset: int


class ReplicaBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    topic_name: str
    partition_id: int
    broker_id: int
    is_leader: bool
    is_in_sync: bool
    broker: Related


class ReplicaList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[ReplicaBody]


def partition_body(
    topic: str, index: int, partition: Partition | None, node_id: int, urls: Urls
) -> PartitionBody:
    url = urls("topics", topic, "partitions", index)
    return {
        "kind": "KafkaPartition",
        "metadata": {
            "self": url,
            "resource_name": resource(urls.cluster_id, ("topic", topic), ("partition", index)),
        },
        "cluster_id": urls.cluster_id,
        "topic_name": topic,
        "partition_id": index,
        "leader": {"related": f"{url}/replicas/{node_id}"},
        "replicas": {"related": f"{url}/replicas"},
        "reassignment": {"related": f"{url}/reassignment"},
        "log_start_offset": None if partition is None else partition.log_start_offset,
        "log_end_offset": None if partition is None else partition.high_watermark,
    }


def replica_body(topic: str, index: int, node_id: int, urls: Urls) -> ReplicaBody:
    return {
        "kind": "KafkaReplica",
        "metadata": {
            "self": urls("topics", topic, "partitions", index, "replicas", node_id),
            "resource_name": resource(
                urls.cluster_id, ("topic", topic), ("partition", index), ("replica", node_id)
            ),
        },
        "cluster_id": urls.cluster_id,
        "topic_name": topic,
        "partition_id": index,
        "broker_id": node_id,
        "is_leader": True,
        "is_in_sync": True,
        "broker": {"related": urls("brokers", node_id)},
    }
