"""The cluster and its one broker as JSON."""

from __future__ import annotations

from interfaces.rest.shapes.common import Related, Resource, resource
from interfaces.rest.urls import Urls


class ClusterBody(Resource):
    controller: Related
    brokers: Related
    broker_configs: Related
    consumer_groups: Related
    topics: Related
    acls: Related
    partition_reassignments: Related


class BrokerBody(Resource):
    broker_id: int
    #: null: no listener is open.
    host: str | None
    port: int | None
    rack: str | None
    configs: Related
    partition_replicas: Related


def cluster_body(node_id: int, urls: Urls) -> ClusterBody:
    reassignments = urls("topics", "-", "partitions", "-", "reassignment")
    return {
        **resource("KafkaCluster", urls),
        "controller": {"related": urls("brokers", node_id)},
        "brokers": {"related": urls("brokers")},
        "broker_configs": {"related": urls("broker-configs")},
        "consumer_groups": {"related": urls("consumer-groups")},
        "topics": {"related": urls("topics")},
        "acls": {"related": urls("acls")},
        "partition_reassignments": {"related": reassignments},
    }


def broker_body(
    node_id: int, address: tuple[str, int] | None, rack: str | None, urls: Urls
) -> BrokerBody:
    url = urls("brokers", node_id)
    host, port = address or (None, None)
    return {
        **resource("KafkaBroker", urls, "brokers", node_id),
        "broker_id": node_id,
        "host": host,
        "port": port,
        "rack": rack,
        "configs": {"related": f"{url}/configs"},
        "partition_replicas": {"related": f"{url}/partition-replicas"},
    }
