"""Call: a request in progress. Route: its API and version. Peer: its connection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, Protocol, TypeVar

from application.broker import Broker
from application.metrics.families.request_counts import RequestCounts
from application.ports.pending import Pending
from application.ports.request_log import ClientInfo, Requester
from application.security.client_quotas import MutationQuota
from domain.configs.settings.definition import INT_MAX
from domain.errors import BrokerError, CoordinatorLoadInProgress
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.principal import Principal
from interfaces.kafka.requests.apis import FETCH, JOIN_GROUP, PRODUCE, SYNC_GROUP, Api
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.requests.failures import Failed, failed_response
from interfaces.kafka.requests.gate import Handle, Wrap, gated
from interfaces.kafka.requests.log_subject import LogSubject
from interfaces.kafka.requests.sasl import Sasl
from interfaces.kafka.wire.headers import API_VERSIONS, response_start
from interfaces.kafka.wire.schema import Message, Request, Response, decoder, encoder
from interfaces.kafka.wire.structs import Pieces

T = TypeVar("T")

#: After an error, no other request of the connection begins for so long: while no broker has a
#: lease, none leads, and clients ask one after the other without pause. Producers pause by
#: themselves, and send many requests at once.
WITHOUT_LEASE_MS = 100


class CloseConnection(Exception):
    """The broker must close the connection instead of sending a response.

    `reason` is a reason of `connection_closed` (application/ports/events.py).
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Peer(Protocol):
    """The connection of a request, as handlers see it."""

    broker: Broker
    client: ClientInfo
    sasl: Sasl | None
    principal: Principal
    #: The IP address of the client.
    address: str
    raw_client_id: bytes
    #: The end of the prefix of its last cached produce request (repeated_produce.py); 0: none.
    prefix_end: int

    @property
    def advertised(self) -> tuple[str, int]:
        """The address that this client should connect to."""

    def completed(self, call: Call) -> None:
        """Called when a response is complete; it is sent after the responses before it."""

    def failed(self, call: Call, error: Exception) -> None:
        """Called when a response cannot be encoded."""

    def requeue(self, frame: memoryview, loading: Pending[None]) -> None:
        """Runs the request again when `loading` is done; it has had no effect."""

    def throttle(self, throttle_ms: int) -> None:
        """Begins no other request for this time."""

    def without_sasl(self, correlation_id: int) -> None:
        """Logs that the client uses SASL, and the listener has none."""

    def close(self, reason: str, detail: str = "", expected: bool = False) -> None: ...

    def denied(self, call: Call, right: tuple[Operation, ResourceType, str]) -> None:
        """Logs that the principal lacks this right."""


#: Caches how a successful request decodes, for requests with the same prefix.
CacheRequest = Callable[[memoryview, Any, "Call"], None]
#: Runs a request that repeats a cached one; False, without any effect, if it must be decoded.
Repeat = Callable[[memoryview, "Call"], bool]


class Route:
    """Decoder, handler and encoder of one version of one API; made at first use."""

    def __init__(
        self,
        api: Api,
        version: int,
        max_elements: int | None,
        guarded: bool = False,
        faulty: Wrap | None = None,
    ) -> None:
        """`guarded`: an authorizer checks each request; `faulty` injects faults of tests, and
        nothing is cached then.
        """
        messages = api.messages()
        handler = api.handler()
        request: type[Message] = getattr(messages, f"{api.title}Request")
        response: type[Message] = getattr(messages, f"{api.title}Response")
        self.api = api
        self.title = api.title
        self.version = version
        self.counts = RequestCounts()
        self.decode: Callable[[memoryview, int], tuple[Request, int]] = decoder(
            request, version, max_elements
        )
        #: DescribeQuorum and others have none.
        self.has_throttle_time = "throttle_time_ms" in response.fields_
        self.encode: Callable[[Response], Pieces] = encoder(response, version)
        handle: Handle = handler.handle
        if guarded:
            handle = gated(api, version, request, response, handler, handle)
        if faulty is not None:
            handle = faulty(api, version, handle)
        caches = faulty is None
        #: None: the handler responds later.
        self.handle = handle
        #: Errors that are steps of the protocol: such a request does not count as failed.
        self.expected: tuple[type[BrokerError], ...] = getattr(handler, "EXPECTED", ())
        own = getattr(handler, "failed", None)
        self.failed: Failed = (
            partial(own, version=version)
            if own is not None
            else failed_response(request, response, version, getattr(handler, "FAILED", {}))
        )
        self.tagged_request = request.is_flexible(version)
        self.tagged_response = self.tagged_request and api.key != API_VERSIONS
        #: Encoded responses with the catalogue's revision; None if none are cached.
        self.cached_responses: dict[object, tuple[int, Pieces]] | None = {} if caches else None
        #: Cached produce requests, by their prefix (repeated_produce.py).
        self.repeated: dict[bytes, Repeat] = {}
        #: The revision of the catalogue for which they are valid.
        self.cached_revision = -1
        self.cache_request: CacheRequest | None = (
            getattr(handler, "cache_request", None) if caches else None
        )
        self.waits_for_others = api.key in (FETCH, JOIN_GROUP, SYNC_GROUP)


class Call:
    __slots__ = (
        "broker",
        "bytes_in",
        "bytes_out",
        "completed_ns",
        "correlation_id",
        "decoded_ns",
        "error_codes",
        "handled_ns",
        "log_subject",
        "peer",
        "pending",
        "pieces",
        "received_ns",
        "route",
        "started_ns",
        "throttle_ms",
        "topics",
        "version",
    )

    # Set by dispatch and session if `started_ns` is set.
    completed_ns: int
    decoded_ns: int
    handled_ns: int
    #: Set once the request is counted for quotas.
    throttle_ms: int

    def __init__(
        self, peer: Peer, route: Route, correlation_id: int, bytes_in: int, received_ns: int
    ) -> None:
        #: The response, once it is complete; empty if there is nothing to send (acks=0).
        self.pieces: Pieces | None = None
        self.received_ns = received_ns
        #: 0: the stages of this request are not timed.
        self.started_ns = 0
        self.log_subject: LogSubject | None = None
        self.peer = peer
        self.broker = peer.broker
        self.route = route
        self.version = route.version
        self.correlation_id = correlation_id
        self.bytes_in = bytes_in
        self.topics = 0
        self.error_codes: list[int] | None = None
        self.pending: Pending[object] | None = None

    @property
    def requester(self) -> Requester:
        client = self.peer.client
        return Requester(self.peer.principal, client.client_id, client.peer)

    def allows(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Kafka's rules of implication: Create on the cluster allows to create each topic, and
        Write on any topic allows idempotent writes.
        """
        authorizer, peer = self.broker.authorizer, self.peer
        if authorizer.allows_everything or authorizer.allows(
            peer.principal, peer.address, operation, resource_type, name
        ):
            return True
        who = peer.principal, peer.address
        if operation is Operation.CREATE:
            return authorizer.allows(*who, operation, ResourceType.CLUSTER, CLUSTER_NAME)
        if operation is Operation.IDEMPOTENT_WRITE:
            return authorizer.allows_any(*who, Operation.WRITE, ResourceType.TOPIC)
        return False

    def requires(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Like `allows`; what is not allowed is logged, as the client gets an error for it."""
        if self.allows(operation, resource_type, name):
            return True
        self.peer.denied(self, (operation, resource_type, name))
        return False

    @property
    def identity(self) -> tuple[Principal, str, int] | None:
        """A key for what depends on the rights of the client; None if all have all rights."""
        authorizer, peer = self.broker.authorizer, self.peer
        if authorizer.allows_everything:
            return None
        return peer.principal, peer.address, authorizer.revision

    def code(self, error: BrokerError) -> int:
        """The error code for the response; the request counts as failed."""
        code = CODES[type(error)]
        # COORDINATOR_LOAD_IN_PROGRESS is not counted: the log says that the broker loads, or that
        # the store has to be waited for.
        if not isinstance(error, (CoordinatorLoadInProgress, *self.route.expected)):
            self.note_code(code)
        return code

    def refused(self, request: Any, error: BrokerError) -> Response:
        """The response with this error for the request, or for each element of it."""
        return self.route.failed(request, self.code(error), error.message or None)

    def note_code(self, code: int) -> None:
        if self.error_codes is None:
            self.error_codes = []
            if self.route.api.key != PRODUCE and not self.broker.placement.has_lease:
                self.peer.throttle(WITHOUT_LEASE_MS)
        self.error_codes.append(code)

    def respond(self, response: Any) -> None:
        """Completes the response; it is sent with the next flush, in the order of requests."""
        if not self.broker.quotas.unlimited:
            throttle_ms = self.throttle()
            if self.route.has_throttle_time:
                response.throttle_time_ms = throttle_ms
        self.respond_encoded(self.route.encode(response))

    def throttle(self, fetched_bytes: int = 0, least_ms: int = 0) -> int:
        """Counts the request for the quotas of its client, once; returns the throttle time.

        Until it is over, no other request of the connection begins.
        """
        known_ms: int = getattr(self, "throttle_ms", -1)
        if known_ms >= 0:
            return known_ms
        peer, is_produce = self.peer, self.route.api.key == PRODUCE
        self.throttle_ms = self.broker.quotas.count(
            peer.principal,
            peer.client.client_id,
            self._thread_ns(),
            self.bytes_in if is_produce else 0,
            fetched_bytes,
            least_ms,
        )
        if self.throttle_ms:
            peer.throttle(self.throttle_ms)
        return self.throttle_ms

    def most_fetched_bytes(self) -> int:
        """A larger response would always be throttled."""
        peer = self.peer
        most = self.broker.quotas.most_fetched_bytes(peer.principal, peer.client.client_id)
        return int(min(most, INT_MAX))

    def mutation_quota(self, first_strict: int) -> MutationQuota:
        """`first_strict`: the first version that knows THROTTLING_QUOTA_EXCEEDED."""
        peer, strict = self.peer, self.version >= first_strict
        return self.broker.quotas.mutations(peer.principal, peer.client.client_id, strict)

    def _thread_ns(self) -> int:
        """The time of the loop until now, or until the handler returned; 0: not measured."""
        if not self.started_ns:
            return 0
        in_handler = self.handled_ns <= self.decoded_ns
        return (perf_counter_ns() if in_handler else self.handled_ns) - self.started_ns

    def respond_encoded(self, body: Pieces) -> None:
        route = self.route
        body_bytes = len(body[0]) if len(body) == 1 else sum(map(len, body))
        start = response_start(self.correlation_id, body_bytes, route.tagged_response)
        self.bytes_out = len(start) + body_bytes
        self.pieces = [start, *body]
        self.peer.completed(self)

    def respond_frame(self, frame: bytes) -> None:
        """Like `respond`, for an encoded response with its length and header."""
        self.bytes_out = len(frame)
        self.pieces = [frame]
        self.peer.completed(self)

    def respond_nothing(self) -> None:
        """Completes a request with acks=0, for which the client expects no response."""
        if not self.broker.quotas.unlimited:
            self.throttle()
        self.bytes_out = 0
        self.pieces = []
        self.peer.completed(self)

    def respond_later(self, pending: Pending[T], response: Callable[[T], Response]) -> None:
        """Completes the response when the value is there; a failure ends only this connection."""

        def resolved(value: T) -> None:
            try:
                self.respond(response(value))
            except Exception as error:
                if self.pending is None:  # still within the handler: dispatch handles it
                    raise
                self.peer.failed(self, error)

        if pending.resolved:
            pending.then(resolved)
            return
        self.pending = pending  # type: ignore[assignment]  # only used to abandon it
        pending.then(resolved, lambda fault: self.peer.failed(self, fault))
