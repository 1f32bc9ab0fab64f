"""Requests about brokers and replicas, which confluent-kafka does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from interfaces.cli.client import Clients, check_code
from interfaces.cli.cluster_plan import Place, Plan, Replicas
from interfaces.cli.failures import CommandFailed
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from interfaces.cli.probe.wire_client import WireClient
    from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterBroker

_DESCRIBE_CLUSTER, _UNREGISTER_BROKER = 60, 64
#: The first that has fenced brokers (KIP-1073, Kafka 4.0).
_WITH_FENCED = 2
_ELECTION_NOT_NEEDED = 84
WHY_FENCED = "it is not alive, or cut off from the cluster"
#: Of Metadata: the first that has leader epochs (KIP-320, Kafka 2.1).
_WITH_EPOCHS = 7
#: Of the timeout, for the broker: its response takes time.
_SHARE = 0.9


def registered_brokers(client: WireClient) -> list[DescribeClusterBroker]:
    """Alive and fenced ones; Kafka before 4.0 names no fenced brokers."""
    from interfaces.kafka.wire.messages.describe_cluster import (
        DescribeClusterRequest,
        DescribeClusterResponse,
    )

    what = "the brokers"
    version = min(client.versions.get(_DESCRIBE_CLUSTER, -1), _WITH_FENCED)
    if version < 0:
        raise CommandFailed(f"{what}: this cluster does not serve DescribeCluster")
    request = DescribeClusterRequest(include_fenced_brokers=True)
    response = client.send(request, version, DescribeClusterResponse)
    check_code(what, response.error_code, response.error_message)
    return response.brokers


def unregister_broker(clients: Clients, node_id: int) -> None:
    """Sent to any broker, as kafka-cluster does."""
    from interfaces.kafka.wire.messages.unregister_broker import (
        UnregisterBrokerRequest,
        UnregisterBrokerResponse,
    )

    what = f"the registration of broker {node_id}"
    with clients.wire(what) as client:
        if _UNREGISTER_BROKER not in client.versions:
            raise CommandFailed(f"{what}: this cluster does not serve UnregisterBroker")
        request = UnregisterBrokerRequest(broker_id=node_id)
        response = client.send(request, 0, UnregisterBrokerResponse)
    check_code(what, response.error_code, response.error_message)


def leader_epochs(client: WireClient) -> dict[Place, int]:
    """Of all partitions."""
    from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse

    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    response = client.send(request, _WITH_EPOCHS, MetadataResponse)
    return {
        (str(topic.name), one.partition_index): one.leader_epoch
        for topic in response.topics
        for one in topic.partitions
    }


def reassignments(clients: Clients) -> dict[Place, tuple[Replicas, Replicas]]:
    """Those under way: all replicas, and which of them go."""
    from interfaces.kafka.wire.messages.list_partition_reassignments import (
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsResponse,
    )

    what = "the reassignments"
    with clients.wire(what) as client:
        request = ListPartitionReassignmentsRequest(topics=None)
        response = client.send(request, 0, ListPartitionReassignmentsResponse)
    check_code(what, response.error_code, response.error_message)
    return {
        (topic.name, one.partition_index): (tuple(one.replicas), tuple(one.removing_replicas))
        for topic in response.topics
        for one in topic.partitions
    }


def reassign(clients: Clients, plan: Plan) -> dict[Place, str]:
    """Begins them; returns why some were refused."""
    from interfaces.kafka.wire.messages.alter_partition_reassignments import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        ReassignablePartition,
        ReassignableTopic,
    )

    what = "the reassignment"
    topics = [
        ReassignableTopic(
            name=name,
            partitions=[
                ReassignablePartition(partition_index=index, replicas=list(plan[name, index]))
                for index in indexes
            ],
        )
        for name, indexes in _by_topic(plan).items()
    ]
    with clients.wire(what) as client:
        request = AlterPartitionReassignmentsRequest(topics=topics)
        response = client.send(request, 0, AlterPartitionReassignmentsResponse)
    check_code(what, response.error_code, response.error_message)
    return {
        (topic.name, one.partition_index): one.error_message or _words(one.error_code)
        for topic in response.responses
        for one in topic.partitions
        if one.error_code
    }


def elect_preferred(clients: Clients, places: Iterable[Place]) -> dict[Place, str]:
    """Returns why some were refused."""
    from interfaces.kafka.wire.messages.elect_leaders import (
        ElectLeadersRequest,
        ElectLeadersResponse,
        TopicPartitions,
    )

    what = "the election"
    request = ElectLeadersRequest(
        topic_partitions=[
            TopicPartitions(topic=name, partitions=indexes)
            for name, indexes in _by_topic(dict.fromkeys(places)).items()
        ],
        timeout_ms=int(clients.timeout_s * _SHARE * 1000),
    )
    with clients.wire(what) as client:
        response = client.send(request, 1, ElectLeadersResponse)
    check_code(what, response.error_code)
    return {
        (topic.topic, one.partition_id): one.error_message or _words(one.error_code)
        for topic in response.replica_election_results
        for one in topic.partition_result
        if one.error_code not in (0, _ELECTION_NOT_NEEDED)
    }


def check_no_refusals(refused: Mapping[Place, str]) -> None:
    """Raises CommandFailed with the first reason."""
    for (name, index), why in refused.items():
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise CommandFailed(f"{name}-{index}: {why}{more}")


def _by_topic(places: Iterable[Place]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, index in places:
        found.setdefault(name, []).append(index)
    return found


def _words(code: int) -> str:
    from confluent_kafka import KafkaError

    return in_words(KafkaError(code))
