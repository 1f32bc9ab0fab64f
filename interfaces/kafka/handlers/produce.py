"""Produce (key 0), versions 3-13.

 3  message format v2                 9  flexible
 7  zstd (KIP-110)                   10  the current leader and its address (KIP-951)
 8  record errors (KIP-467)          13  topics by id (KIP-516)

11  TRANSACTION_ABORTABLE             12  adds partitions to the transaction (KIP-890)

Advertised from 0 because librdkafka requires it; 0-2 close the connection, as in Kafka 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.partitions.produce import Admit
from application.ports.log_store import NotInMemory
from application.transactions.coordinator import ReadElsewhere, SupportedOperation
from application.transactions.produce_admission import ProduceAdmission
from domain.errors import (
    BrokerError,
    InvalidRecord,
    InvalidRequiredAcks,
    InvalidTimestamp,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.partitions.partition import Partition
from domain.topics.topic import Topic, not_writable_error
from interfaces.kafka.handlers.shared.nodes import add_endpoint
from interfaces.kafka.handlers.shared.transactions import reads_elsewhere
from interfaces.kafka.requests import repeated_produce
from interfaces.kafka.requests.call import Call, CloseConnection
from interfaces.kafka.requests.delayed_produce import DelayedProduce
from interfaces.kafka.requests.failures import failed_response
from interfaces.kafka.requests.repeated_produce import ACKS_ALL, FIRST_WITH_ZSTD
from interfaces.kafka.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from interfaces.kafka.wire.schema import Response

FIRST_WITH_ENDPOINTS = 10
FIRST_WITH_ABORTABLE = 11
FIRST_THAT_ADDS_PARTITIONS = 12
FIRST_WITH_TOPIC_IDS = 13

NO_ACKS = 0
LEGAL_ACKS = (ACKS_ALL, NO_ACKS, 1)


class StagedProduce(DelayedProduce):
    """The response to a request whose batches are staged; sent after the commit."""

    __slots__ = ("acks_all", "response", "staged")

    def __init__(self, call: Call, acks_all: bool, timeout_ms: int) -> None:
        self._call = call
        self.acks_all = acks_all
        self._timeout_ms = timeout_ms
        self.response = ProduceResponse()
        self.staged: list[PartitionProduceResponse] = []

    def __call__(self, failure: StorageFailed | None) -> None:
        call = self._call
        if failure is not None:
            for partition in self.staged:
                _refuse(partition, failure, call)
        try:
            call.respond(self.response)
        except Exception as error:
            call.peer.failed(call, error)

    def _unfinished(self, error: BrokerError) -> ProduceResponse:
        for partition in self.staged:
            partition.error_code = self._call.code(error)
        return self.response


class ProduceWithoutAcks:
    """Ends the request, so that later ones of its connection see the records, as in Kafka.

    Closes the connection if the commit fails: acks=0 has no response.
    """

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        self._call = call

    def __call__(self, failure: StorageFailed | None) -> None:
        call = self._call
        if failure is None:
            call.respond_nothing()
        else:
            call.peer.close(
                "produce_failed", f"a batch sent with acks=0 was lost: {failure.message}"
            )


def handle(request: ProduceRequest, call: Call) -> ProduceResponse | None:
    durable = StagedProduce(call, request.acks == ACKS_ALL, request.timeout_ms)
    response = durable.response
    refused = None
    if request.acks not in LEGAL_ACKS:
        refused = InvalidRequiredAcks("acks must be -1, 0 or 1")
    catalog = call.broker.catalog
    by_id = call.version >= FIRST_WITH_TOPIC_IDS
    topics: list[Topic | None] = []
    places: list[tuple[Topic, int]] = []
    for topic_data in request.topic_data:  # a comprehension would be a function call
        topic = (
            catalog.topic_by_id(topic_data.topic_id) if by_id else catalog.topic(topic_data.name)
        )
        topics.append(topic)
        if topic is not None and not topic.is_internal and refused is None:
            for data in topic_data.partition_data:
                places.append((topic, data.index))
    # Before the first append: this may raise NotInMemory, and the request runs again then.
    found = catalog.partitions(places)
    partitions = iter(found)
    admit = None
    if request.transactional_id is not None:
        read = reads_elsewhere(call, request.transactional_id)
        led = [one for one in found if isinstance(one, Partition)]
        admit = _admission(request, call, led, read)
        if read is not None and refused is None:
            _read_first(admit, request, topics, found)
    for topic, topic_data in zip(topics, request.topic_data, strict=True):
        result = TopicProduceResponse(name=topic_data.name, topic_id=topic_data.topic_id)
        response.responses.append(result)
        if topic is None or topic.is_internal or refused is not None:
            error = refused or _unwritable(topic, topic_data.name, by_id)
            result.partition_responses = [
                _refuse(PartitionProduceResponse(index=data.index), error, call)
                for data in topic_data.partition_data
            ]
            continue
        for data in topic_data.partition_data:
            result.partition_responses.append(_append(next(partitions), data, call, durable, admit))
    call.topics = len(request.topic_data)
    if request.acks == NO_ACKS:
        _respond_nothing(durable, call)
        return None
    if not durable.staged:
        return response
    call.broker.commits.wait(durable)
    return None


def _append(
    partition: Partition | BrokerError | None,
    data: PartitionProduceData,
    call: Call,
    durable: StagedProduce,
    admit: Admit | None,
) -> PartitionProduceResponse:
    result = PartitionProduceResponse(index=data.index)
    if partition is None:
        return _refuse(result, UnknownTopicOrPartition(), call)
    if isinstance(partition, BrokerError):
        if isinstance(partition, NotLeaderOrFollower) and call.version >= FIRST_WITH_ENDPOINTS:
            leader = partition.leader
            result.current_leader = LeaderIdAndEpoch(*leader)
            add_endpoint(durable.response.node_endpoints, NodeEndpoint, leader.node_id, call)
        return _refuse(result, partition, call)
    produce, zstd_allowed = call.broker.messages.produce, call.version >= FIRST_WITH_ZSTD
    try:
        appended = produce.append(
            partition, data.records, zstd_allowed, admit, acks_all=durable.acks_all
        )
    except NotInMemory:
        if not durable.staged:
            raise
        appended = produce.append(
            partition, data.records, zstd_allowed, admit, waits=False, acks_all=durable.acks_all
        )
    if isinstance(appended, BrokerError):
        return _refuse(result, appended, call)
    result.base_offset = appended.base_offset
    result.log_append_time_ms = appended.log_append_time
    result.log_start_offset = partition.durable.start_offset
    if appended.last_offset >= partition.durable.next_offset:
        durable.staged.append(result)
    return result


def _read_first(
    admit: ProduceAdmission,
    request: ProduceRequest,
    topics: Sequence[Topic | None],
    found: Sequence[Partition | BrokerError | None],
) -> None:
    """Before the first append, too, as it may raise NotInMemory."""
    partitions = iter(found)
    for topic, topic_data in zip(topics, request.topic_data, strict=True):
        if topic is not None and not topic.is_internal:
            for data in topic_data.partition_data:
                partition = next(partitions)
                if isinstance(partition, Partition):
                    admit.read_first(partition, data.records)


def _admission(
    request: ProduceRequest,
    call: Call,
    partitions: Sequence[Partition],
    read: ReadElsewhere | None = None,
) -> ProduceAdmission:
    operation = SupportedOperation.DEFAULT_ERROR
    if call.version >= FIRST_THAT_ADDS_PARTITIONS:
        operation = SupportedOperation.ADD_PARTITION
    elif call.version >= FIRST_WITH_ABORTABLE:
        operation = SupportedOperation.GENERIC_ERROR_SUPPORTED
    assert request.transactional_id is not None
    coordinator = call.broker.transactions.coordinator
    return ProduceAdmission(coordinator, request.transactional_id, operation, partitions, read)


def _unwritable(topic: Topic | None, name: str, by_id: bool) -> BrokerError:
    if topic is None and by_id:
        return UnknownTopicId()
    return not_writable_error(name if topic is None else topic.name)


def _respond_nothing(durable: StagedProduce, call: Call) -> None:
    if call.error_codes:
        raise _refused_batch(call.error_codes[0])
    if durable.staged:
        call.broker.commits.wait(ProduceWithoutAcks(call))
    else:
        call.respond_nothing()


def _refused_batch(code: int) -> CloseConnection:
    return CloseConnection("produce_failed", f"a batch sent with acks=0 was refused: error {code}")


#: Of a partition.
FAILED = {"base_offset": -1}


def failed(request: ProduceRequest, code: int, message: str | None, version: int) -> Response:
    if request.acks == NO_ACKS:
        raise _refused_batch(code)
    return failed_response(ProduceRequest, ProduceResponse, version, FAILED)(request, code, message)


def _refuse(
    result: PartitionProduceResponse, error: BrokerError, call: Call
) -> PartitionProduceResponse:
    result.error_code = call.code(error)
    result.error_message = error.message or None
    result.base_offset = -1
    result.log_append_time_ms = -1
    result.log_start_offset = -1
    if isinstance(error, (InvalidRecord, InvalidTimestamp)):
        result.record_errors = [
            BatchIndexAndErrorMessage(batch_index=f.index, batch_index_error_message=f.message)
            for f in error.faults
        ]
    return result


def cache_request(frame: memoryview, request: ProduceRequest, call: Call) -> None:
    """Caches this request for repeats of it."""
    if request.acks != NO_ACKS:
        admit = None if request.transactional_id is None else _admission(request, call, ())
        repeated_produce.cache_request(frame, request, call, _refuse, admit)
