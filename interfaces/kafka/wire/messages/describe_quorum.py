"""DescribeQuorum: leader, voters and observers of the metadata log (KIP-595).

Version 1 has the times of fetches (KIP-836), version 2 messages, directories and nodes (KIP-853).
"""

from __future__ import annotations

from interfaces.kafka.wire.fields import array, int16, int32, int64, string, uint16, uuid
from interfaces.kafka.wire.schema import Request, Response
from interfaces.kafka.wire.structs import Struct


class RequestedPartition(Struct):
    partition_index: int = int32()


class RequestedTopic(Struct):
    topic_name: str = string()
    partitions: list[RequestedPartition] = array(RequestedPartition)


class DescribeQuorumRequest(Request, key=55, versions="0-2", flexible="0+"):
    topics: list[RequestedTopic] = array(RequestedTopic)


class ReplicaState(Struct):
    replica_id: int = int32()
    replica_directory_id: bytes = uuid("2+")
    log_end_offset: int = int64()
    last_fetch_timestamp: int = int64("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: int = int64("1+", default=-1, ignorable=True)


class QuorumPartition(Struct):
    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string("2+", nullable="2+", ignorable=True)
    leader_id: int = int32()
    leader_epoch: int = int32()
    high_watermark: int = int64()
    current_voters: list[ReplicaState] = array(ReplicaState)
    observers: list[ReplicaState] = array(ReplicaState)


class QuorumTopic(Struct):
    topic_name: str = string()
    partitions: list[QuorumPartition] = array(QuorumPartition)


class Listener(Struct):
    name: str = string("2+")
    host: str = string("2+")
    port: int = uint16("2+")


class Node(Struct):
    node_id: int = int32("2+")
    listeners: list[Listener] = array(Listener, "2+")


class DescribeQuorumResponse(Response, key=55, versions="0-2", flexible="0+"):
    error_code: int = int16()
    error_message: str | None = string("2+", nullable="2+", ignorable=True)
    topics: list[QuorumTopic] = array(QuorumTopic)
    nodes: list[Node] = array(Node, "2+")
