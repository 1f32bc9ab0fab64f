"""Dispatch: frame -> route -> request -> handler -> response; the one catch-all for bugs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from application.ports.event_log import EventLog
from application.ports.log_store import NotInMemory
from domain.errors import BrokerError, UnsupportedVersion
from domain.topics.topic import text_of_id
from interfaces.kafka.requests.accounting import RequestAccounting
from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.requests.call import CacheRequest, Call, CloseConnection, Peer, Route
from interfaces.kafka.requests.error_codes import UNKNOWN_SERVER_ERROR
from interfaces.kafka.requests.gate import Wrap
from interfaces.kafka.requests.log_subject import log_subject_of
from interfaces.kafka.wire.headers import (
    API_VERSIONS,
    CLIENT_ID_START,
    PREFIX_START,
    skip_header_tags,
    unpack_fixed_header,
)
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Request

#: (frame, connection, its replies, the time of its arrival): runs a request.
Begin = Callable[[memoryview, Any, deque[Call], int], None]

NO_TAGS = b"\0"

NO_RESPONSE = "the response could not be encoded"


class Routes:
    def __init__(
        self,
        max_elements: int | None = None,
        guarded: bool = False,
        faulty: Wrap | None = None,
    ) -> None:
        """`max_elements`: limit for all arrays of one request together."""
        self._max_elements = max_elements
        self._guarded = guarded
        self._faulty = faulty
        self.made: dict[tuple[int, int], Route] = {}

    def find(self, key: int, version: int) -> Route | None:
        """None if this version of this API is not served."""
        route = self.made.get((key, version))
        if route is None:
            api = BY_KEY.get(key)
            if api is None or not api.serves(version):
                return None
            route = Route(api, version, self._max_elements, self._guarded, self._faulty)
            self.made[key, version] = route
        return route


class Dispatch:
    """Runs the requests of all sessions."""

    def __init__(self, routes: Routes, events: EventLog, accounting: RequestAccounting) -> None:
        self._routes = routes
        self._events = events
        self._accounting = accounting

    def begin(self, frame: memoryview, peer: Peer, replies: deque[Call], received_ns: int) -> None:
        """Appends the call of this frame to `replies` and runs its handler.

        Raises MalformedRequest or CloseConnection when the connection has to be closed. A request
        that needs pages from disk is requeued, before it has had any effect.
        """
        key, version, correlation_id, id_length = unpack_fixed_header(frame)
        route = self._routes.made.get((key, version)) or self._routes.find(key, version)
        if route is None:
            route = self._route_without_version(key, version)
            call = Call(peer, route, correlation_id, len(frame) + 4, received_ns)
            call.started_ns = call.decoded_ns = call.handled_ns = call.completed_ns = received_ns
            call.respond(call.refused(None, UnsupportedVersion()))
            replies.append(call)
            return
        call = Call(peer, route, correlation_id, len(frame) + 4, received_ns)
        replies.append(call)
        if route.repeated and self._repeat(frame, call, route):
            return
        position = CLIENT_ID_START + max(0, id_length)
        if frame[CLIENT_ID_START:position] != peer.raw_client_id:
            _set_client_id(peer, frame, id_length)
        if route.tagged_request:
            if frame[position : position + 1] == NO_TAGS:
                position += 1
            else:
                position = skip_header_tags(frame, position)
        call.started_ns = perf_counter_ns()
        request, end = route.decode(frame, position)
        call.decoded_ns = call.handled_ns = call.completed_ns = perf_counter_ns()
        try:
            self._handle(request, call, route)
        except NotInMemory as later:
            peer.requeue(frame, later.loading)
            return
        call.handled_ns = perf_counter_ns()
        if call.pieces is not None:
            call.completed_ns = call.handled_ns
        failed = call.error_codes is not None
        # For the log, also if the request fails later: the decoded request is gone by then.
        if call.log_subject is None and (
            failed or call.pending is not None or self._accounting.timed
        ):
            call.log_subject = log_subject_of(request)
        if not failed and route.cache_request is not None and end == len(frame):
            self._cache(frame, request, call, route.cache_request)

    def _repeat(self, frame: memoryview, call: Call, route: Route) -> bool:
        """Runs a produce request that repeats a cached one (repeated_produce.py).

        Reading the clock three times is 2 % of its cost, so it is timed only if accounting wants.
        """
        prefix = frame[PREFIX_START : call.peer.prefix_end].tobytes()
        repeat = route.repeated.get(prefix)
        if repeat is None:
            return False
        if self._accounting.timed:
            call.started_ns = call.decoded_ns = call.completed_ns = perf_counter_ns()
        try:
            begun = repeat(frame, call)
        except MalformedRequest:
            raise
        except NotInMemory as later:
            call.peer.requeue(frame, later.loading)
            return True
        except Exception as error:
            self.log_failure(call, error)
            raise CloseConnection("internal_error", NO_RESPONSE) from error
        if call.started_ns:
            call.handled_ns = perf_counter_ns()
        return begun

    def _cache(
        self, frame: memoryview, request: Request, call: Call, cache_request: CacheRequest
    ) -> None:
        """A bug here must not fail the request, which is already in progress."""
        try:
            cache_request(frame, request, call)
        except Exception as error:
            self.log_failure(call, error)

    def _handle(self, request: Request, call: Call, route: Route) -> None:
        try:
            response = route.handle(request, call)
            if response is not None:
                call.respond(response)
        except BrokerError as refused:
            self._refuse(request, call, call.code(refused), refused.message or None)
        except (CloseConnection, NotInMemory):
            raise
        except Exception as error:
            call.log_subject = call.log_subject or log_subject_of(request)
            self.log_failure(call, error)
            call.note_code(UNKNOWN_SERVER_ERROR)
            self._refuse(request, call, UNKNOWN_SERVER_ERROR, None)

    def _refuse(self, request: Request, call: Call, code: int, message: str | None) -> None:
        try:
            call.respond(call.route.failed(request, code, message))
        except CloseConnection:
            raise
        except Exception as error:
            raise CloseConnection("internal_error", NO_RESPONSE) from error

    def _route_without_version(self, key: int, version: int) -> Route:
        """For an unknown version of ApiVersions, clients expect a version 0 response (KIP-511)."""
        route = self._routes.find(API_VERSIONS, 0)
        if key != API_VERSIONS or route is None:
            raise _not_served(key, version)
        return route

    def log_failure(self, call: Call, error: Exception) -> None:
        """Logs a bug with its traceback; the client gets -1, or its connection is closed."""
        self._events.error(
            "request_failed",
            api=call.route.api.title,
            version=call.version,
            correlation_id=call.correlation_id,
            connection_id=call.peer.client.connection_id,
            error=error,
            **_subject(call),
        )


def _subject(call: Call) -> dict[str, str]:
    if call.log_subject is None:
        return {}
    field, value = call.log_subject
    if isinstance(value, str):
        return {field: value}
    name = call.broker.catalog.name_of(value)
    return {"topic_id": text_of_id(value)} if name is None else {field: name}


def _set_client_id(peer: Peer, frame: memoryview, length: int) -> None:
    end = CLIENT_ID_START + max(length, 0)
    if end > len(frame):
        raise MalformedRequest("The client id is longer than the request")
    peer.raw_client_id = bytes(frame[CLIENT_ID_START:end])
    peer.client.client_id = None if length < 0 else peer.raw_client_id.decode("utf-8", "replace")


def _not_served(key: int, version: int) -> CloseConnection:
    return CloseConnection("unsupported_version", f"API {key} version {version} is not served")
