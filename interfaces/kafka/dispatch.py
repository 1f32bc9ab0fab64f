"""Dispatch: frame -> route -> request -> handler -> reply; and the one catch-all."""

from __future__ import annotations

from time import perf_counter_ns

from application.broker import Broker
from application.pending import Pending
from application.ports.event_log import EventLog
from domain.errors import UnsupportedVersion
from interfaces.kafka.call import Call, CloseConnection, Peer
from interfaces.kafka.error_codes import UNKNOWN_SERVER_ERROR
from interfaces.kafka.routes import Routes
from interfaces.kafka.wire.headers import (
    API_VERSIONS,
    skip_client_id,
    skip_header_tags,
    unpack_fixed_header,
)
from interfaces.kafka.wire.schema import Request, Response


class Dispatch:
    """What all sessions of a broker share on the way from a frame to its answer."""

    def __init__(self, broker: Broker, routes: Routes, events: EventLog, timed: bool) -> None:
        self._broker = broker
        self._routes = routes
        self._events = events
        #: Whether the request log wants to know where the time goes.
        self.timed = timed

    def open(self, frame: memoryview, peer: Peer) -> Call:
        """The call for a frame; raises CloseConnection when there is nothing to answer it with."""
        key, version, correlation_id = unpack_fixed_header(frame)
        route = self._routes.find(key, version)
        if route is not None:
            return Call(self._broker, peer, route, correlation_id, len(frame) + 4)
        if key != API_VERSIONS:
            raise CloseConnection(f"API {key} version {version} is not served")
        return self._unknown_api_versions(peer, correlation_id, len(frame) + 4)

    def _unknown_api_versions(self, peer: Peer, correlation_id: int, bytes_in: int) -> Call:
        """A client that asks for an ApiVersions we do not know is told which we do, in v0."""
        route = self._routes.find(API_VERSIONS, 0)
        assert route is not None
        call = Call(self._broker, peer, route, correlation_id, bytes_in)
        error = UnsupportedVersion("No such version of ApiVersions")
        call.answer(route.failed(None, call, call.code(error)))
        return call

    def run(self, frame: memoryview, call: Call) -> None:
        """Answers the call, now or when what it waits for has come."""
        route = call.route
        raw_client_id, position = skip_client_id(frame)
        peer = call.peer
        if raw_client_id != peer.raw_client_id:
            _remember_client_id(peer, raw_client_id)
        if route.tagged_request:
            position = skip_header_tags(frame, position)
        request, _ = route.decode(frame, position)
        if self.timed:
            call.decoded_ns = perf_counter_ns()
        self._answer(request, call)

    def _answer(self, request: Request, call: Call) -> None:
        try:
            result = call.route.handle(request, call)
            if isinstance(result, Pending):
                call.pending = result
            else:
                call.answer(result)
        except CloseConnection:
            raise
        except Exception as error:
            self._fail(request, call, error)

    def complete(self, call: Call, response: Response | None) -> None:
        """Answers a call with what it waited for."""
        try:
            call.answer(response)
        except Exception as error:
            self._log_failure(call, error)
            call.peer.close("its answer could not be made")

    def _fail(self, request: Request, call: Call, error: Exception) -> None:
        """The broker's own fault: logged with its traceback, answered -1."""
        self._log_failure(call, error)
        call.error_codes.append(UNKNOWN_SERVER_ERROR)
        call.answer(call.route.failed(request, call, UNKNOWN_SERVER_ERROR))

    def _log_failure(self, call: Call, error: Exception) -> None:
        self._events.error(
            "request.failed",
            api=call.route.api.title,
            api_version=call.version,
            correlation_id=call.correlation_id,
            connection_id=call.peer.client.connection_id,
            failure=error,
        )


def _remember_client_id(peer: Peer, raw: bytes | None) -> None:
    peer.raw_client_id = raw
    peer.client.client_id = None if raw is None else raw.decode("utf-8", "replace")
