"""The cluster and its brokers as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from domain.cluster.nodes import BrokerRegistration
from interfaces.rest.shapes.common import Related, Resource, resource


@resource("KafkaCluster", "")
class ClusterBody(Resource):
    controller: Annotated[Related, "brokers/{node_id}"]
    brokers: Annotated[Related, "brokers"]
    broker_configs: Annotated[Related, "broker-configs"]
    consumer_groups: Annotated[Related, "consumer-groups"]
    topics: Annotated[Related, "topics"]
    acls: Annotated[Related, "acls"]
    partition_reassignments: Annotated[Related, "topics/-/partitions/-/reassignment"]


@resource("KafkaBroker", "brokers/{broker_id}")
class BrokerBody(Resource):
    broker_id: int
    #: For the clients of the first listener; null: it is not known.
    host: str | None
    port: int | None
    rack: str | None
    is_controller: bool
    #: It is not alive, and leads nothing.
    is_fenced: bool
    #: STARTING: is_fenced, too.
    state: Literal["ALIVE", "STARTING", "FENCED"]
    #: A number of 62 bits, another one whenever the broker connects to the store; null: it has
    #: ended, or the broker has the store alone.
    session_id: str | None
    #: Until others may end the session, if the broker does not renew its lease; null: the broker
    #: has the store alone.
    lease_ms: int | None
    software_version: str | None
    configs: Annotated[Related, "/configs"]
    partition_replicas: Annotated[Related, "/partition-replicas"]


def state_of(one: BrokerRegistration, lease_left_s: float | None) -> dict[str, Any]:
    """The session is a string: JavaScript would round the number."""
    return {
        "state": one.state.name,
        "session_id": str(one.session_id) if one.session_id else None,
        "lease_ms": None if lease_left_s is None else int(lease_left_s * 1000),
    }
