"""DescribeQuorum (key 55), versions 0-2 (KIP-595).

1  times of the last fetch (KIP-836)        2  messages, directory ids, nodes (KIP-853)

The quorum is the controller. It has no metadata log, because changes of topics are in the commits
of its store: the offsets are 0. Its listener is the client's. As with `kraft.version` 0, voters
have no directory ids.
"""

from __future__ import annotations

from domain.errors import UnknownTopicOrPartition
from interfaces.kafka.handlers.shared.nodes import nodes_for
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    QuorumPartition,
    QuorumTopic,
    ReplicaState,
)

FIRST_WITH_NODES = 2
METADATA_LOG = ("__cluster_metadata", [0])
#: Also of later controllers: there are no elections (`application/cluster/controller.py`), so no
#: epoch counts them. Clients only show it (kafka-metadata-quorum.sh).
LEADER_EPOCH = 1


def handle(request: DescribeQuorumRequest, call: Call) -> DescribeQuorumResponse:
    requested = [
        (topic.topic_name, [one.partition_index for one in topic.partitions])
        for topic in request.topics
    ]
    if requested != [METADATA_LOG]:
        return _unknown(requested, call)
    leader_id, now_ms = call.broker.cluster.caught_up()
    voter = ReplicaState(
        replica_id=leader_id, last_fetch_timestamp=now_ms, last_caught_up_timestamp=now_ms
    )
    partition = QuorumPartition(
        leader_id=leader_id, leader_epoch=LEADER_EPOCH, current_voters=[voter]
    )
    name = call.peer.client.listener
    return DescribeQuorumResponse(
        topics=[QuorumTopic(topic_name=METADATA_LOG[0], partitions=[partition])],
        nodes=[
            Node(node_id=node.node_id, listeners=[Listener(name=name, host=host, port=port)])
            for node, (host, port) in nodes_for(call)
            if call.version >= FIRST_WITH_NODES
        ],
    )


def _unknown(requested: list[tuple[str, list[int]]], call: Call) -> DescribeQuorumResponse:
    """As in Kafka, no partition is described then."""
    code = call.code(UnknownTopicOrPartition())
    message = "This server does not host this topic-partition."
    return DescribeQuorumResponse(
        topics=[
            QuorumTopic(
                topic_name=name,
                partitions=[
                    QuorumPartition(partition_index=index, error_code=code, error_message=message)
                    for index in indexes
                ],
            )
            for name, indexes in requested
        ]
    )
