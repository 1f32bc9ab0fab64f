"""DescribeCluster (key 60), versions 0-2.

1  endpoint type: brokers (1); controllers (2) are not reached through a broker's listener
2  fenced brokers (there is one broker, and it answers)
"""

from __future__ import annotations

from domain.errors import BrokerError, MismatchedEndpointType, UnsupportedEndpointType
from interfaces.kafka.handlers.shared.authorized_operations import cluster_operations
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
        error = MismatchedEndpointType(
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER"
        )
        return _refused(error, call)
    if request.endpoint_type != BROKERS:
        unknown = UnsupportedEndpointType(f"Unsupported endpoint type {request.endpoint_type}")
        return _refused(unknown, call)
    config = call.broker.config
    return DescribeClusterResponse(
        endpoint_type=BROKERS,
        cluster_id=call.broker.cluster_id,
        controller_id=config.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=config.node_id,
                host=call.peer.advertised_host,
                port=call.peer.advertised_port,
                rack=config.broker_rack,
            )
        ],
        cluster_authorized_operations=cluster_operations(
            request.include_cluster_authorized_operations
        ),
    )


def _refused(error: BrokerError, call: Call) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=call.code(error), error_message=error.message)


def failed(request: DescribeClusterRequest, call: Call, code: int) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code)
