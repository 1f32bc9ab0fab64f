"""Partitions and their one replica as JSON."""

from __future__ import annotations

from domain.partitions.partition import Partition
from interfaces.rest.shapes.common import Related, Resource, resource
from interfaces.rest.urls import Urls


class OfPartition(Resource):
    topic_name: str
    partition_id: int


class PartitionBody(OfPartition):
    leader: Related
    replicas: Related
    reassignment: Related
    #: null: the log cannot be read.
    log_start_offset: int | None
    log_end_offset: int | None


class OffsetsBody(OfPartition):
    beginning_offset: int
    end_offset: int


class ReplicaBody(OfPartition):
    broker_id: int
    is_leader: bool
    is_in_sync: bool
    broker: Related


def partition_body(
    topic: str, index: int, partition: Partition | None, node_id: int, urls: Urls
) -> PartitionBody:
    url = urls("topics", topic, "partitions", index)
    return {
        **resource("KafkaPartition", urls, "topics", topic, "partitions", index),
        "topic_name": topic,
        "partition_id": index,
        "leader": {"related": f"{url}/replicas/{node_id}"},
        "replicas": {"related": f"{url}/replicas"},
        "reassignment": {"related": f"{url}/reassignment"},
        "log_start_offset": None if partition is None else partition.log_start_offset,
        "log_end_offset": None if partition is None else partition.high_watermark,
    }


def offsets_body(topic: str, index: int, partition: Partition, urls: Urls) -> OffsetsBody:
    return {
        **resource("KafkaPartitionOffset", urls, "topics", topic, "partitions", index, "offset"),
        "topic_name": topic,
        "partition_id": index,
        "beginning_offset": partition.log_start_offset,
        "end_offset": partition.high_watermark,
    }


def replica_body(topic: str, index: int, node_id: int, urls: Urls) -> ReplicaBody:
    path = ("topics", topic, "partitions", index, "replicas", node_id)
    return {
        **resource("KafkaReplica", urls, *path),
        "topic_name": topic,
        "partition_id": index,
        "broker_id": node_id,
        "is_leader": True,
        "is_in_sync": True,
        "broker": {"related": urls("brokers", node_id)},
    }
