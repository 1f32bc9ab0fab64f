"""Admin: everything that the routes use of the broker, in one value.

The composition root makes it. Protocols stand for what other packages implement: this package
imports neither the Kafka listeners nor the stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from application.broker import Broker
from application.metrics.families.request_counts import Counted
from application.metrics.history import History
from application.metrics.recent_requests import RequestQuery
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.request_log import ClientInfo, Requester, RequestLog, RequestRecord
from application.security.conversation import Refused
from application.security.http_authentication import HttpAuthentication
from domain.security.access import Operation, ResourceType
from interfaces.rest.testing import Testing

if TYPE_CHECKING:
    from interfaces.connections.handshakes import Handshakes
    from interfaces.connections.tls import TlsIdentity


class Connection(Protocol):
    """One connection of a Kafka client."""

    client: ClientInfo
    bytes_in: int
    bytes_out: int

    @property
    def active(self) -> bool:
        """Bytes were received or sent since the connection reaper last ran."""
        ...

    @property
    def in_flight(self) -> int:
        """Requests without a response yet."""
        ...

    @property
    def unread_bytes(self) -> int:
        """Responses that the client has not read yet."""
        ...


class Metrics(Protocol):
    def scrape(self) -> Pending[list[bytes]]:
        """Pieces of Prometheus's text format."""
        ...


class Requests(Protocol):
    """The newest completed requests."""

    @property
    def add_http(self) -> Callable[[RequestRecord], None]: ...

    def find(self, query: RequestQuery) -> Iterator[list[RequestRecord]]:
        """The newest first; other work may run between two lists."""
        ...


class Refusals(Protocol):
    """Logs and counts refused connections, logins and rights."""

    def rejected(self, client: ClientInfo, reason: str, detail: str, **more: object) -> None:
        """The broker closed the connection because of bytes that the client sent."""
        ...

    def unauthenticated(
        self,
        client: ClientInfo,
        refused: Refused,
        user: str,
        mechanism: str,
        correlation_id: int | str,
    ) -> None: ...

    def denied(
        self,
        by: Requester,
        api: str,
        correlation_id: int | str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> None: ...


@dataclass(frozen=True)
class KafkaListener:
    name: str
    host: str
    port: int
    #: None: the address that the client connected to.
    advertised: str | None


#: Returns why the broker is not ready, or None.
Check = Callable[[], str | None]


@dataclass
class Admin:
    """Its values change only when a snapshot is restored: then there is a new broker."""

    broker: Broker
    events: EventLog
    request_log: RequestLog
    clock: Clock
    version: str
    started_at_ms: int
    requests: Requests
    metrics: Metrics
    history: History
    #: By API and version.
    counted: Callable[[], Iterable[Counted]]
    connections: Callable[[], Sequence[Connection]]
    listeners: Callable[[], Sequence[KafkaListener]]
    #: By name; the broker is ready when all of them return None.
    checks: Mapping[str, Check]
    #: The origin of a setting: command line, file, environment or default.
    origin: Callable[[str], str]
    #: As a URL without credentials.
    storage: str
    #: Logs and counts what is refused.
    refusals: Refusals
    #: In progress, of all listeners.
    handshakes: Handshakes
    #: None: `admin.authentication` is none.
    authentication: HttpAuthentication | None = None
    #: None: it has no TLS.
    tls: TlsIdentity | None = None
    #: None unless the broker has `testing`.
    testing: Testing | None = None

    def take_over(self, other: Admin) -> None:
        vars(self).update(vars(other))
