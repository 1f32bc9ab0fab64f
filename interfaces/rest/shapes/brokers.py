"""The cluster and its one broker as JSON."""

from __future__ import annotations

from typing_extensions import TypedDict

from interfaces.rest.shapes.common import ListMetadata, Metadata, Related, resource
from interfaces.rest.urls import Urls


class ClusterBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    controller: Related
    brokers: Related
    broker_configs: Related
    consumer_groups: Related
    topics: Related
    acls: Related
    partition_reassignments: Related


class ClusterList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[ClusterBody]


class BrokerBody(TypedDict):
    kind: str
    metadata: Metadata
    cluster_id: str
    broker_id: int
    #: null: it has no listener open.
    host: str | None
    port: int | None
    rack: str | None
    configs: Related
    partition_replicas: Related


class BrokerList(TypedDict):
    kind: str
    metadata: ListMetadata
    data: list[BrokerBody]


def cluster_body(node_id: int, urls: Urls) -> ClusterBody:
    return {
        "kind": "KafkaCluster",
        "metadata": {"self": urls.cluster, "resource_name": resource(urls.cluster_id)},
        "cluster_id": urls.cluster_id,
        "controller": {"related": urls("brokers", node_id)},
        "brokers": {"related": urls("brokers")},
        "broker_configs": {"related": urls("broker-configs")},
        "consumer_groups": {"related": urls("consumer-groups")},
        "topics": {"related": urls("topics")},
        "acls": {"related": urls("acls")},
        "partition_reassignments": {
            "related": urls("topics", "-", "partitions", "-", "reassignment")
        },
    }


def broker_body(
    node_id: int, address: tuple[str, int] | None, rack: str | None, urls: Urls
) -> BrokerBody:
    url = urls("brokers", node_id)
    host, port = address or (None, None)
    return {
        "kind": "KafkaBroker",
        "metadata": {
            "self": url,
            "resource_name": resource(urls.cluster_id, ("broker", node_id)),
        },
        "cluster_id": urls.cluster_id,
        "broker_id": node_id,
        "host": host,
        "port": port,
        "rack": rack,
        "configs": {"related": f"{url}/configs"},
        "partition_replicas": {"related": f"{url}/partition-replicas"},
    }
