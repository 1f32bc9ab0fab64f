"""DescribeCluster (key 60), versions 0-2.

1  endpoint type: brokers (1); a broker's listener refuses controllers (2) (KIP-919)
2  fenced brokers (KIP-1073): those that share the store and are not alive now, and this one while
   its lease is over
"""

from __future__ import annotations

from domain.cluster.nodes import ids_of
from domain.errors import MismatchedEndpointType, UnsupportedEndpointType
from interfaces.kafka.handlers.shared.authorized_operations import cluster_operations
from interfaces.kafka.handlers.shared.nodes import addressed, nodes_for
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS = 1
CONTROLLERS = 2


def handle(request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
    if request.endpoint_type == CONTROLLERS:
        raise MismatchedEndpointType(
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER"
        )
    if request.endpoint_type != BROKERS:
        raise UnsupportedEndpointType(f"Unsupported endpoint type {request.endpoint_type}")
    cluster = call.broker.cluster
    fenced = cluster.fenced_nodes() if request.include_fenced_brokers else ()
    fenced_ids = ids_of(fenced)
    # This one in any case: clients have to find it again.
    listed = {node.node_id: (node, address) for node, address in nodes_for(call)}
    for node, address in addressed(fenced, call):
        listed.setdefault(node.node_id, (node, address))
    return DescribeClusterResponse(
        endpoint_type=BROKERS,
        cluster_id=call.broker.cluster_id,
        controller_id=cluster.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=node.node_id,
                host=host,
                port=port,
                rack=node.rack,
                is_fenced=node.node_id in fenced_ids,
            )
            for node, (host, port) in listed.values()
        ],
        cluster_authorized_operations=cluster_operations(
            request.include_cluster_authorized_operations, call
        ),
    )
