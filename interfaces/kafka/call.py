"""Call: one request being answered, and what a handler may know of it and its connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from application.pending import Pending
from application.ports.request_log import ClientInfo
from domain.errors import BrokerError
from interfaces.kafka.error_codes import CODES
from interfaces.kafka.wire.connection import Reply
from interfaces.kafka.wire.schema import Response

if TYPE_CHECKING:
    from application.broker import Broker
    from interfaces.kafka.routes import Route


class CloseConnection(Exception):
    """The only answer to this request is the end of its connection; the message says why."""


class Peer:
    """One connection, as far as handlers may know it."""

    __slots__ = ("advertised_host", "advertised_port", "client", "close", "raw_client_id")

    def __init__(
        self,
        client: ClientInfo,
        advertised_host: str,
        advertised_port: int,
        close: Callable[[str], None],
    ) -> None:
        self.client = client
        #: What this client is told to connect to.
        self.advertised_host = advertised_host
        self.advertised_port = advertised_port
        self.close = close
        self.raw_client_id: bytes | None = None


class Call(Reply):
    __slots__ = (
        "answered_ns",
        "broker",
        "bytes_in",
        "bytes_out",
        "correlation_id",
        "decoded_ns",
        "error_codes",
        "handled_ns",
        "peer",
        "pending",
        "received_ns",
        "route",
        "started_ns",
        "topics",
        "version",
    )

    # Times are taken only when the request log asks for them.
    answered_ns: int
    decoded_ns: int
    handled_ns: int
    received_ns: int
    started_ns: int

    def __init__(
        self, broker: Broker, peer: Peer, route: Route, correlation_id: int, bytes_in: int
    ) -> None:
        self.pieces = None
        self.broker = broker
        self.peer = peer
        self.route = route
        self.version = route.version
        self.correlation_id = correlation_id
        self.bytes_in = bytes_in
        self.bytes_out = 0
        self.topics = 0
        self.error_codes: list[int] = []
        self.pending: Pending[Any] | None = None

    def code(self, error: BrokerError) -> int:
        """The number for a failure that goes into the answer; the request counts as failed."""
        code = CODES[type(error)]
        self.error_codes.append(code)
        return code

    def answer(self, response: Response | None) -> None:
        """Completes the reply; None when the client expects none."""
        if response is None:
            self.fill_with_nothing()
        else:
            route = self.route
            self.bytes_out = self.fill(
                self.correlation_id, route.encode(response), route.tagged_response
            )
