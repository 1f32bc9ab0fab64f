"""Call: one request being answered; its route, and what a handler may know of its connection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from application.broker import Broker
from application.metrics.families.request_counts import RequestCounts
from application.ports.pending import Pending
from application.ports.request_log import ClientInfo
from domain.errors import BrokerError, CoordinatorLoadInProgress
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from domain.security.principal import Principal
from interfaces.kafka.requests.apis import FETCH, JOIN_GROUP, SYNC_GROUP, Api
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.requests.failures import Failed, failed_response
from interfaces.kafka.requests.gate import gated
from interfaces.kafka.requests.log_subject import LogSubject
from interfaces.kafka.wire.headers import API_VERSIONS, response_start
from interfaces.kafka.wire.schema import Message, Request, Response, decoder, encoder
from interfaces.kafka.wire.structs import Pieces

T = TypeVar("T")


class CloseConnection(Exception):
    """The only answer to this request is the end of its connection; the message says why."""


class Peer(Protocol):
    """One connection, as far as handlers may know it."""

    broker: Broker
    client: ClientInfo
    principal: Principal
    #: What this client is told to connect to.
    advertised_host: str
    advertised_port: int
    raw_client_id: bytes
    #: Where that of its last request ended which the next ones may share; 0: none did.
    prefix_end: int

    def completed(self, call: Call) -> None:
        """Called when a response is complete; it is sent after the responses before it."""

    def failed(self, call: Call, error: Exception) -> None:
        """Called when a response cannot be encoded."""

    def requeue(self, frame: memoryview, loading: Pending[None]) -> None:
        """Runs the request again when `loading` is done; it has had no effect."""

    def throttle(self, throttle_ms: int) -> None:
        """Begins no other request for this time."""

    def close(self, why: str) -> None: ...


#: What a request that went well teaches of those to come.
CacheRequest = Callable[[memoryview, Any, "Call"], None]
#: Runs a request like an earlier one; False, and nothing has happened, where the ordinary way is
#: needed.
Repeat = Callable[[memoryview, "Call"], bool]


class Route:
    """What requests of one version of one API go through; made at first use."""

    def __init__(
        self, api: Api, version: int, max_elements: int | None, guarded: bool = False
    ) -> None:
        """`guarded`: the authorizer or the quotas have a say in every request."""
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
        self.encode: Callable[[Response], Pieces] = encoder(response, version)
        #: None: the call is answered later.
        self.handle: Callable[[Any, Call], Response | None] = (
            gated(api, version, request, handler.handle) if guarded else handler.handle
        )
        #: What is a step of the protocol and no failure, though it has an error code.
        self.expected: tuple[type[BrokerError], ...] = getattr(handler, "EXPECTED", ())
        own = getattr(handler, "failed", None)
        self.failed: Failed = (
            partial(own, version=version)
            if own is not None
            else failed_response(request, response, version, getattr(handler, "FAILED", {}))
        )
        self.tagged_request = request.is_flexible(version)
        self.tagged_response = self.tagged_request and api.key != API_VERSIONS
        #: Encoded answers that a handler may give again, with what they were made from; None where
        #: they depend on who asks.
        self.cached_responses: dict[object, tuple[int, Pieces]] | None = None if guarded else {}
        #: Requests known by how they begin (see repeated_produce.py).
        self.repeated: dict[bytes, Repeat] = {}
        #: The catalogue's revision that they hold for.
        self.cached_revision = -1
        self.cache_request: CacheRequest | None = (
            None if guarded else getattr(handler, "cache_request", None)
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
        "topics",
        "version",
    )

    # Times are taken by whoever gets so far with it, where `started_ns` is.
    completed_ns: int
    decoded_ns: int
    handled_ns: int

    def __init__(
        self, peer: Peer, route: Route, correlation_id: int, bytes_in: int, received_ns: int
    ) -> None:
        #: None until it is answered; empty when there is nothing to send.
        self.pieces: Pieces | None = None
        self.received_ns = received_ns
        #: 0: only when it was received is known, and when its answer leaves.
        self.started_ns = 0
        #: What it concerns, for the log.
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

    def allows(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Or something else that is enough, as in Kafka: who may create topics in the cluster may
        create each, and who may write to a topic, whichever, may do so idempotently.
        """
        authorizer, principal = self.broker.authorizer, self.peer.principal
        if authorizer.allows_everything or authorizer.allows(
            principal, operation, resource_type, name
        ):
            return True
        if operation is Operation.CREATE:
            return authorizer.allows(principal, operation, ResourceType.CLUSTER, CLUSTER_NAME)
        if operation is Operation.IDEMPOTENT_WRITE:
            return authorizer.allows_any(principal, Operation.WRITE, ResourceType.TOPIC)
        return False

    def code(self, error: BrokerError) -> int:
        """The number for a failure that goes into the answer; the request counts as failed."""
        code = CODES[type(error)]
        # What is not loaded yet is not noted: the log says when it is.
        if not isinstance(error, (CoordinatorLoadInProgress, *self.route.expected)):
            self.note_code(code)
        return code

    def refused(self, request: Any, error: BrokerError) -> Response:
        """The response that says of all that was asked for why it is not done."""
        return self.route.failed(request, self.code(error), error.message or None)

    def note_code(self, code: int) -> None:
        if self.error_codes is None:
            self.error_codes = []
        self.error_codes.append(code)

    def respond(self, response: Any) -> None:
        """Completes the reply; in the order of requests it goes out with the next flush."""
        body = self.route.encode(response)
        if not self.broker.quotas.unlimited and (throttle_ms := self._throttle(body)):
            response.throttle_time_ms = throttle_ms
            body = self.route.encode(response)
        self.respond_encoded(body)

    def _throttle(self, body: Pieces) -> int:
        peer, bytes_out = self.peer, sum(map(len, body))
        throttle_ms = self.broker.quotas.throttle_ms(
            peer.principal, peer.client.client_id, self.route.title, self.bytes_in, bytes_out
        )
        if throttle_ms:
            peer.throttle(throttle_ms)
        return throttle_ms

    def respond_encoded(self, body: Pieces) -> None:
        route = self.route
        body_bytes = len(body[0]) if len(body) == 1 else sum(map(len, body))
        start = response_start(self.correlation_id, body_bytes, route.tagged_response)
        self.bytes_out = len(start) + body_bytes
        self.pieces = [start, *body]
        self.peer.completed(self)

    def respond_whole(self, answer: bytes) -> None:
        """With its length and header."""
        self.bytes_out = len(answer)
        self.pieces = [answer]
        self.peer.completed(self)

    def respond_nothing(self) -> None:
        """The client expects no answer."""
        if not self.broker.quotas.unlimited:
            self._throttle([])
        self.bytes_out = 0
        self.pieces = []
        self.peer.completed(self)

    def respond_later(self, pending: Pending[T], response: Callable[[T], Response]) -> None:
        """Completes the reply when the value is there; nobody else suffers when that fails."""

        def resolved(value: T) -> None:
            try:
                self.respond(response(value))
            except Exception as error:
                if self.pending is None:  # it was there already: dispatch responds
                    raise
                self.peer.failed(self, error)

        if pending.resolved:
            pending.then(resolved)
            return
        self.pending = pending  # type: ignore[assignment]  # only ever abandoned
        pending.then(resolved, lambda fault: self.peer.failed(self, fault))
