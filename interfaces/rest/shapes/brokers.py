"""The cluster and its brokers as JSON."""

from __future__ import annotations

from typing import Annotated

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
    software_version: str | None
    configs: Annotated[Related, "/configs"]
    partition_replicas: Annotated[Related, "/partition-replicas"]
