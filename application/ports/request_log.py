"""RequestLog: one structured line a request, with where its time went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from domain.security.principal import ANONYMOUS, Principal

#: Of a name that a client gave itself, once it is gone, or that its request concerns.
REMEMBERED_CHARACTERS = 200


@dataclass(slots=True, eq=False)
class ClientInfo:
    """What is known of the other end of a connection; the session fills it in as it learns."""

    connection_id: int
    listener: str
    peer: str
    client_id: str | None = None
    #: When the connection was made.
    since_ms: int = 0
    software_name: str = ""
    software_version: str = ""

    def forget_long_names(self) -> None:
        """The connection is gone, but may be remembered with its requests: not with 32 KB each."""
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
        return {**self._asdict(), "principal": str(self.principal)}


#: Of changes that the broker makes by itself.
NO_CLIENT = Requester(ANONYMOUS, None, "")


class RequestKind(Protocol):
    """Which API in which version; the route of a request, where it is one of Kafka's."""

    @property
    def title(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def waits_for_others(self) -> bool: ...


class RequestRecord(NamedTuple):
    """One answered request. Times are `time.perf_counter_ns()` readings, in order."""

    kind: RequestKind
    correlation_id: int
    client: ClientInfo
    topics: int
    #: What else it concerns, as a field and its value: a group, say, or a topic by name or id.
    log_subject: tuple[str, str | bytes] | None
    bytes_in: int
    bytes_out: int
    #: Each that occurs in the answer, once.
    error_codes: tuple[int, ...]
    error_names: tuple[str, ...]
    received_ns: int
    started_ns: int
    decoded_ns: int
    handled_ns: int
    completed_ns: int
    sent_ns: int
    #: Added to the others it makes times by the wall clock.
    wall_ns: int

    @property
    def sent_ms(self) -> int:
        """In milliseconds since 1970: the same wherever the request is shown."""
        return (self.sent_ns + self.wall_ns) // 1_000_000

    @property
    def elapsed_ns(self) -> int:
        """What it took, without its time of waiting for data."""
        waited_ns = self.completed_ns - self.handled_ns if self.kind.waits_for_others else 0
        return self.sent_ns - self.received_ns - waited_ns


class RequestLog(Protocol):
    #: What took less than this and did not fail is of no interest; 0: every request may be.
    quick_ns: int
    #: What took as long, without its time of waiting for data, is slow.
    slow_ns: int

    def includes(self, elapsed_ns: int, failed: bool) -> bool:
        """Whether a request of this length and outcome is to be written."""
        ...

    def write(self, record: RequestRecord) -> None: ...
