"""RepeatedProduce: a produce request that equals an earlier one except for its batch.

A producer that sends single batches to one partition repeats all other bytes: client id, topic,
partition, acks. The broker compares this prefix with cached requests instead of decoding it, and
responds with the cached response bytes and new offsets. All other requests go through decoder,
handler and encoder; tests/property/test_repeated_produce.py compares both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from application.partitions.produce import Admit
from domain.errors import BrokerError, StorageFailed
from domain.messages.batch import HEADER_BYTES
from domain.partitions.appended import Appended
from domain.partitions.partition import Partition
from domain.security.principal import Principal
from domain.topics.topic import NO_TOPIC_ID
from interfaces.kafka.requests.call import Call, Repeat
from interfaces.kafka.requests.delayed_produce import DelayedProduce
from interfaces.kafka.requests.log_subject import log_subject_of
from interfaces.kafka.wire.headers import PREFIX_START, response_start
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from interfaces.kafka.wire.primitives import finish_uvarint, write_uvarint

#: Longer prefixes are not cached.
MAX_PREFIX_BYTES = 512
#: Cached requests of one version of Produce.
MAX_REPEATED = 1000

ACKS_ALL = -1
FIRST_WITH_LOG_START = 5
FIRST_WITH_ZSTD = 7

#: The smallest batch with its size.
SHORTEST_REST_BYTES = HEADER_BYTES + 4

_INT32 = Struct(">i")
_PLACEHOLDERS = (0x0102030405060708, 0x1112131415161718, 0x2122232425262728)

#: Puts an error into the response of a partition.
Refuse = Callable[[PartitionProduceResponse, BrokerError, Call], PartitionProduceResponse]


class RepeatedProduce:
    __slots__ = (
        "_acks_all",
        "_admit",
        "_after",
        "_flexible",
        "_log_subject",
        "_number_count",
        "_pack",
        "_partition",
        "_raw_client_id",
        "_refuse",
        "_response_end",
        "_response_size",
        "_response_start",
        "_revision",
        "_size_at",
        "index",
        "name",
        "timeout_ms",
        "topic_id",
    )

    def __init__(
        self,
        size_at: int,
        request: ProduceRequest,
        partition: Partition,
        call: Call,
        refuse: Refuse,
        admit: Admit | None,
    ) -> None:
        [topic] = request.topic_data
        route = call.route
        self.name = topic.name
        self.topic_id = topic.topic_id
        self.index = topic.partition_data[0].index
        self._log_subject = log_subject_of(request)
        self._refuse = refuse
        self._admit = admit
        self._acks_all = request.acks == ACKS_ALL
        self.timeout_ms = request.timeout_ms
        self._partition = partition
        self._revision = call.broker.catalog.revision
        self._raw_client_id = call.peer.raw_client_id
        self._size_at = size_at
        self._flexible = route.tagged_request
        self._after = _after(route.tagged_request)
        body = b"".join(route.encode(self._template()))
        start = response_start(0, len(body), route.tagged_response)
        number_count = 3 if route.version >= FIRST_WITH_LOG_START else 2
        placeholders = Struct(">" + "q" * number_count).pack(*_PLACEHOLDERS[:number_count])
        before, self._response_end = (start + body).split(placeholders)
        self._response_size, self._response_start = before[:4], before[8:]
        self._pack = Struct(
            f">4si{len(self._response_start)}s{'q' * number_count}{len(self._response_end)}s"
        ).pack
        self._number_count = number_count

    def _template(self) -> ProduceResponse:
        base_offset, log_append_time_ms, log_start_offset = _PLACEHOLDERS
        return self._response(
            PartitionProduceResponse(
                index=self.index,
                base_offset=base_offset,
                log_append_time_ms=log_append_time_ms,
                log_start_offset=log_start_offset,
            )
        )

    def refused(self, failure: StorageFailed, call: Call) -> ProduceResponse:
        return self._response(
            self._refuse(PartitionProduceResponse(index=self.index), failure, call)
        )

    def not_cached(
        self, appended: Appended, log_start_offset: int, error_code: int = 0
    ) -> ProduceResponse:
        """The cached bytes have no throttle time, and no error."""
        return self._response(
            PartitionProduceResponse(
                index=self.index,
                error_code=error_code,
                base_offset=appended.base_offset,
                log_append_time_ms=appended.log_append_time,
                log_start_offset=log_start_offset,
            )
        )

    def _response(self, partition: PartitionProduceResponse) -> ProduceResponse:
        topic = TopicProduceResponse(
            name=self.name, topic_id=self.topic_id, partition_responses=[partition]
        )
        return ProduceResponse(responses=[topic])

    def begin(self, frame: memoryview, call: Call) -> bool:
        """Appends the batch; False, without any effect, if the request must be decoded."""
        position = self._size_at
        if len(frame) < position + SHORTEST_REST_BYTES:
            return False
        if self._flexible:
            size = frame[position]
            position += 1
            if size > 127:
                size, position = finish_uvarint(frame, position, size)
            size -= 1
        else:
            (size,) = _INT32.unpack_from(frame, position)
            position += 4
        end = position + size
        partition = self._partition
        broker = call.broker
        if (
            end + len(self._after) != len(frame)
            or frame[end:] != self._after
            or broker.catalog.revision != self._revision
            or partition.broken is not None
            or call.peer.raw_client_id != self._raw_client_id
        ):
            return False
        appended = broker.messages.produce.append(
            partition,
            frame[position:end],
            call.version >= FIRST_WITH_ZSTD,
            self._admit,
            acks_all=self._acks_all,
        )
        if (
            not isinstance(appended, Appended)
            or appended.last_offset < partition.durable.next_offset
        ):
            partition.traffic.forget_append(refused=not isinstance(appended, Appended))
            return False
        call.topics = 1
        call.log_subject = self._log_subject
        broker.commits.wait(
            RepeatedProduceResponse(self, call, appended, partition.durable.start_offset)
        )
        return True

    def response(self, correlation_id: int, numbers: tuple[int, int, int]) -> bytes:
        """`numbers`: base offset, log append time, log start offset (version 5 and later)."""
        return self._pack(
            self._response_size,
            correlation_id,
            self._response_start,
            *numbers[: self._number_count],
            self._response_end,
        )


class RepeatedProduceResponse(DelayedProduce):
    """Responds after the commit that makes the batch durable."""

    __slots__ = ("_appended", "_log_start_offset", "_repeated")

    def __init__(
        self, repeated: RepeatedProduce, call: Call, appended: Appended, log_start_offset: int
    ) -> None:
        self._repeated = repeated
        self._timeout_ms = repeated.timeout_ms
        self._call = call
        self._appended = appended
        self._log_start_offset = log_start_offset

    def __call__(self, failure: StorageFailed | None) -> None:
        call = self._call
        repeated = self._repeated
        try:
            if failure is not None:
                call.respond(repeated.refused(failure, call))
                return
            appended = self._appended
            if not call.broker.quotas.unlimited and call.throttle():
                call.respond(repeated.not_cached(appended, self._log_start_offset))
                return
            numbers = (appended.base_offset, appended.log_append_time, self._log_start_offset)
            call.respond_frame(repeated.response(call.correlation_id, numbers))
        except Exception as error:
            call.peer.failed(call, error)

    def _unfinished(self, error: BrokerError) -> ProduceResponse:
        code = self._call.code(error)
        return self._repeated.not_cached(self._appended, self._log_start_offset, code)


def cache_request(
    frame: memoryview, request: ProduceRequest, call: Call, refuse: Refuse, admit: Admit | None
) -> None:
    """Caches a successful request for one partition."""
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return
    [topic_data] = request.topic_data
    [data] = topic_data.partition_data
    route, catalog = call.route, call.broker.catalog
    size_at = _size_at(frame, data, route.tagged_request)
    if not 0 < size_at <= MAX_PREFIX_BYTES:
        return
    if route.cached_revision != catalog.revision:
        # Topics, configs or leaders changed; the cached partitions may be deleted.
        route.repeated.clear()
        route.cached_revision = catalog.revision
    prefix = frame[PREFIX_START:size_at].tobytes()
    if prefix not in route.repeated:
        by_id = topic_data.topic_id != NO_TOPIC_ID
        topic = (
            catalog.topic_by_id(topic_data.topic_id) if by_id else catalog.topic(topic_data.name)
        )
        partition = None if topic is None else catalog.partition(topic, data.index)
        if partition is None or len(route.repeated) >= MAX_REPEATED:
            return
        repeated = RepeatedProduce(size_at, request, partition, call, refuse, admit)
        if call.broker.authorizer.allows_everything:
            route.repeated[prefix] = repeated.begin
        else:
            route.repeated[prefix] = GuardedProduce(repeated.begin)
    known = route.repeated[prefix]
    if isinstance(known, GuardedProduce):
        known.allow(call)
    call.peer.prefix_end = size_at


class GuardedProduce:
    """Repeats a request only for clients that were allowed to send it, until the ACLs change."""

    __slots__ = ("_allowed", "_begin")

    def __init__(self, begin: Repeat) -> None:
        self._begin = begin
        #: By connection, its principal and the revision of the ACLs.
        self._allowed: dict[int, tuple[Principal, int]] = {}

    def allow(self, call: Call) -> None:
        if len(self._allowed) >= MAX_REPEATED:
            self._allowed.clear()
        peer = call.peer
        revision = call.broker.authorizer.revision
        self._allowed[peer.client.connection_id] = peer.principal, revision

    def __call__(self, frame: memoryview, call: Call) -> bool:
        peer = call.peer
        allowed = self._allowed.get(peer.client.connection_id)
        return (
            allowed is not None
            and allowed[0] is peer.principal
            and allowed[1] == call.broker.authorizer.revision
            and self._begin(frame, call)
        )


def _size_at(frame: memoryview, data: PartitionProduceData, flexible: bool) -> int:
    """The end of the prefix, which is the position of the batch's size.

    0 if the client encodes the size or the tagged fields in an unusual way.
    """
    assert data.records is not None
    after = _after(flexible)
    size_bytes = len(data.records)
    size = write_uvarint(size_bytes + 1) if flexible else _INT32.pack(size_bytes)
    size_at = len(frame) - len(after) - size_bytes - len(size)
    is_usual = (
        frame[size_at : size_at + len(size)] == size and frame[len(frame) - len(after) :] == after
    )
    return size_at if is_usual else 0


def _after(flexible: bool) -> bytes:
    """The empty tagged fields of the partition, the topic and the request."""
    return b"\0\0\0" if flexible else b""
