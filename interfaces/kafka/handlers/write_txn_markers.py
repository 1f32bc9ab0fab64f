"""WriteTxnMarkers (key 27), versions 1-2.

2  transaction version (KIP-1228)

Admins end hanging transactions with it (`kafka-transactions.sh abort`); Kafka's coordinators also
send it to other brokers. The marker is written as it is requested, also if the producer has
no open transaction in the partition, as in Kafka.
"""

from __future__ import annotations

from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    ClusterAuthorizationFailed,
    InvalidRequest,
    StorageFailed,
    UnknownTopicOrPartition,
)
from domain.messages.control import EndMarker
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

Results = dict[int, dict[str, dict[int, WritableTxnMarkerPartitionResult]]]


def handle(request: WriteTxnMarkersRequest, call: Call) -> WriteTxnMarkersResponse | None:
    if not call.allows(Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME) and not call.requires(
        Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    ):
        raise ClusterAuthorizationFailed()
    call.broker.catalog.load(
        (topic.name, index)
        for marker in request.markers
        for topic in marker.topics
        for index in topic.partition_indexes
    )
    results: Results = {}
    staged: list[WritableTxnMarkerPartitionResult] = []
    for marker in request.markers:
        for topic in marker.topics:
            for index in topic.partition_indexes:
                result = WritableTxnMarkerPartitionResult(partition_index=index)
                topics = results.setdefault(marker.producer_id, {})
                topics.setdefault(topic.name, {})[index] = result
                try:
                    _write(marker, topic.name, index, call)
                    staged.append(result)
                except BrokerError as refused:
                    result.error_code = call.code(refused)
    if not staged:
        return _response(results)

    def ended(failure: StorageFailed | None) -> WriteTxnMarkersResponse:
        if failure is not None:
            for result in staged:
                result.error_code = call.code(failure)
        return _response(results)

    commit: Pending[StorageFailed | None] = Pending()
    call.broker.commits.wait(commit.resolve)
    call.respond_later(commit, ended)
    return None


def _write(marker: WritableTxnMarker, name: str, index: int, call: Call) -> None:
    if marker.producer_id < 0 or marker.producer_epoch < 0 or marker.transaction_version < 0:
        raise InvalidRequest("A marker needs a producer id, an epoch and a transaction version")
    topic = call.broker.catalog.topic(name)
    if topic is not None and topic.is_internal:
        raise UnknownTopicOrPartition("Offsets of transactions are not in their topic")
    markers = call.broker.messages.transaction_markers
    partition = call.broker.catalog.existing_partition(name, index)
    markers.check(partition)
    markers.write(
        partition,
        EndMarker(
            marker.producer_id,
            marker.producer_epoch,
            marker.coordinator_epoch,
            marker.transaction_result,
        ),
        marker.transaction_version,
    )


def _response(results: Results) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(name=name, partitions=list(partitions.values()))
                    for name, partitions in topics.items()
                ],
            )
            for producer_id, topics in results.items()
        ]
    )
