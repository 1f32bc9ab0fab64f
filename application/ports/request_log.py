"""RequestLog: one structured line a request, with where its time went."""

from __future__ import annotations

from typing import Protocol

#: Of a name that a client gave itself, once it is gone, or that its request concerns.
REMEMBERED_CHARACTERS = 200


class ClientInfo:
    """What is known of the other end of a connection; the session fills it in as it learns."""

    __slots__ = (
        "client_id",
        "connection_id",
        "listener",
        "peer",
        "since_ms",
        "software_name",
        "software_version",
    )

    def __init__(self, connection_id: int, listener: str, peer: str) -> None:
        self.connection_id = connection_id
        self.listener = listener
        self.peer = peer
        self.client_id: str | None = None
        #: When the connection was made.
        self.since_ms = 0
        self.software_name = ""
        self.software_version = ""

    def forget_long_names(self) -> None:
        """The connection is gone, but may be remembered with its requests: not with 32 KB each."""
        if self.client_id is not None:
            self.client_id = self.client_id[:REMEMBERED_CHARACTERS]
        self.software_name = self.software_name[:REMEMBERED_CHARACTERS]
        self.software_version = self.software_version[:REMEMBERED_CHARACTERS]


class RequestRecord:
    """One answered request. Times are `time.perf_counter_ns()` readings, in order."""

    __slots__ = (
        "about", "answered_ns", "api", "api_version", "bytes_in", "bytes_out", "client",
        "correlation_id", "decoded_ns", "elapsed_ns", "error_codes", "error_names", "handled_ns",
        "received_ns", "sent_ms", "sent_ns", "started_ns", "topics",
    )  # fmt: skip

    client: ClientInfo
    api: str
    api_version: int
    correlation_id: int
    topics: int
    #: What else it concerns, as a field and its value: a group, say.
    about: tuple[str, str] | None
    bytes_in: int
    bytes_out: int
    #: Each that occurs in the answer, once.
    error_codes: tuple[int, ...]
    error_names: tuple[str, ...]
    received_ns: int
    started_ns: int
    decoded_ns: int
    handled_ns: int
    answered_ns: int
    sent_ns: int
    #: By the wall clock, in milliseconds since 1970: the same wherever the request is shown.
    sent_ms: int
    #: What it took, without its time of waiting for data.
    elapsed_ns: int


class RequestLog(Protocol):
    #: What took less than this and did not fail is of no interest; 0: every request may be.
    quick_ns: int
    #: What took as long, without its time of waiting for data, is slow.
    slow_ns: int

    def wants(self, elapsed_ns: int, failed: bool) -> bool:
        """Whether a request of this length and outcome is to be written."""
        ...

    def write(self, record: RequestRecord) -> None: ...
