"""RequestLog: one structured line per request, with its times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from domain.security.principal import ANONYMOUS, Principal

#: Of client ids and names, in remembered requests and in log lines about changes.
REMEMBERED_CHARACTERS = 200


@dataclass(slots=True, eq=False)
class ClientInfo:
    """The client of a connection; the session adds fields as it learns them."""

    connection_id: int
    listener: str
    peer: str
    client_id: str | None = None
    #: When the connection was accepted.
    since_ms: int = 0
    software_name: str = ""
    software_version: str = ""

    def forget_long_names(self) -> None:
        """Recent requests outlive the connection: they must not hold 32 KB names."""
        if self.client_id is not None:
            self.client_id = self.client_id[:REMEMBERED_CHARACTERS]
        self.software_name = self.software_name[:REMEMBERED_CHARACTERS]
        self.software_version = self.software_version[:REMEMBERED_CHARACTERS]


class Requester(NamedTuple):
    """The client that a change is made for, as the log names it."""

    principal: Principal
    client_id: str | None
    peer: str

    def fields(self) -> dict[str, object]:
        """A client id may have 32 KB, and a request may write a hundred lines."""
        client_id = self.client_id and self.client_id[:REMEMBERED_CHARACTERS]
        return {"principal": str(self.principal), "client_id": client_id, "peer": self.peer}


#: Of changes that the broker makes by itself.
NO_CLIENT = Requester(ANONYMOUS, None, "")


class RequestKind(Protocol):
    """The API and version of a request; satisfied by the route of a Kafka request.

    An HTTP request has no version.
    """

    @property
    def title(self) -> str: ...

    @property
    def version(self) -> int | None: ...

    @property
    def waits_for_others(self) -> bool: ...


class RequestRecord(NamedTuple):
    """One request with its response. Times are `time.perf_counter_ns()` readings, in order.

    The correlation id of an HTTP request is a text.
    """

    kind: RequestKind
    correlation_id: int | str
    client: ClientInfo
    topics: int
    #: Another field and its value: a group, or a topic by name or id.
    log_subject: tuple[str, str | bytes] | None
    bytes_in: int
    bytes_out: int
    #: Each error code of the response, once.
    error_codes: tuple[int, ...]
    error_names: tuple[str, ...]
    received_ns: int
    started_ns: int
    decoded_ns: int
    handled_ns: int
    completed_ns: int
    sent_ns: int
    #: Offset from these clock readings to the wall clock.
    wall_ns: int
    #: How long the client may send no other request on its connection, because of its quotas.
    throttle_ms: int = 0

    @property
    def sent_ms(self) -> int:
        """In milliseconds since 1970."""
        return (self.sent_ns + self.wall_ns) // 1_000_000

    @property
    def elapsed_ns(self) -> int:
        """The time of the request, without waiting for data."""
        waited_ns = self.completed_ns - self.handled_ns if self.kind.waits_for_others else 0
        return self.sent_ns - self.received_ns - waited_ns


class RequestLog(Protocol):
    #: Faster requests without an error are never logged; 0: all may be.
    quick_ns: int
    #: Requests with this `elapsed_ns` or more are slow.
    slow_ns: int

    def includes(self, elapsed_ns: int, failed: bool) -> bool:
        """Whether such a request is logged."""
        ...

    def write(self, record: RequestRecord) -> None: ...
