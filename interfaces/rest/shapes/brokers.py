"""The cluster and its one broker as JSON."""

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
    #: null: no listener is open.
    host: str | None
    port: int | None
    rack: str | None
    configs: Annotated[Related, "/configs"]
    partition_replicas: Annotated[Related, "/partition-replicas"]
