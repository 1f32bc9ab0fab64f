"""Admin: everything the routes may know of the broker they administer, in one value.

Made in the composition root. What is declared here as a protocol is implemented elsewhere: this
package knows neither the Kafka side nor the stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from application.broker import Broker
from application.metrics.families.request_counts import RequestCounts
from application.metrics.recent_requests import Wanted
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.request_log import ClientInfo, RequestLog, RequestRecord


class Connection(Protocol):
    """One connection of a Kafka client."""

    client: ClientInfo
    bytes_in: int
    bytes_out: int

    @property
    def active(self) -> bool:
        """Something came or went since the listener last looked for idle ones."""
        ...

    @property
    def in_flight(self) -> int:
        """Requests that are not answered yet."""
        ...

    @property
    def unread_bytes(self) -> int:
        """Answers that the client has not taken yet."""
        ...


class Metrics(Protocol):
    def scrape(self) -> Pending[list[bytes]]:
        """Pieces of Prometheus's text."""
        ...


class Requests(Protocol):
    """The newest requests that were answered."""

    def find(self, wanted: Wanted) -> Iterator[list[RequestRecord]]:
        """The newest first; between one list and the next others may run."""
        ...


@dataclass(frozen=True)
class KafkaListener:
    name: str
    host: str
    port: int
    #: None: each client is told the address it connected to.
    advertised: str | None


#: Why it is not ready, or None.
Check = Callable[[], str | None]


@dataclass(frozen=True)
class Admin:
    broker: Broker
    events: EventLog
    request_log: RequestLog
    clock: Clock
    version: str
    started_at_ms: int
    requests: Requests
    metrics: Metrics
    #: By API and version.
    counted: Callable[[], Iterable[tuple[str, int, RequestCounts]]]
    connections: Callable[[], Sequence[Connection]]
    listeners: Callable[[], Sequence[KafkaListener]]
    #: By name; the broker is ready when none of them has a reason why not.
    checks: Mapping[str, Check]
    #: Where the value of a setting comes from, in words.
    origin: Callable[[str], str]
    #: As a URL, without what nobody else should see.
    storage: str
