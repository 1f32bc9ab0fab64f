"""ConnectionReaper: closes connections that hold memory or sockets and make no progress.

It checks each connection every few seconds, and costs nothing in between. It closes:

- idle connections: no request, response or read for `connections.max.idle.ms`
- stalled ones: the rest of a request does not arrive, or a closed connection is not read
- slow ones: a large request that has not begun, while other requests wait for its memory
- unread ones: no response is read, while the unread responses of all connections are many
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from application.ports.request_log import ClientInfo
from application.ports.scheduler import Scheduler
from interfaces.connections.budgets import ByteBudget, ResponseBudget
from interfaces.connections.framing import Framing

#: A request or a response without progress for this time is given up, and its memory released.
STALLED_MS = 30_000
#: A large request gets STALLED_MS and one second for each of these bytes while others wait.
SLOWEST_BYTES_A_SECOND = 1 << 20


class OpenConnection(Protocol):
    """A session, as the connection reaper and `Shared` see it."""

    address: str
    client: ClientInfo
    bytes_in: int
    bytes_out: int
    closing: bool

    @property
    def connection(self) -> Framing: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def unread_bytes(self) -> int: ...
    @property
    def unsent_bytes(self) -> int: ...
    @property
    def waiting(self) -> bool: ...
    @property
    def loads(self) -> bool: ...
    @property
    def active(self) -> bool: ...
    def mark_checked(self) -> None: ...
    def flush(self) -> None: ...
    def drain(self) -> None: ...
    def close(self, reason: str, detail: str = "", expected: bool = False) -> None: ...
    def abort(self, reason: str | None = None) -> None: ...


class Progress:
    """The last progress of a connection, and the time since then."""

    __slots__ = ("mark", "ms")

    def __init__(self, mark: int = -1) -> None:
        self.mark = mark
        self.ms = 0

    def unchanged_ms(self, mark: int, passed_ms: int) -> int:
        """Milliseconds since the mark changed."""
        self.ms = self.ms + passed_ms if mark == self.mark else 0
        self.mark = mark
        return self.ms


class ConnectionReaper:
    def __init__(
        self,
        sessions: Iterable[OpenConnection],
        memory: ByteBudget,
        response_budget: ResponseBudget,
        idle_ms: int,
        scheduler: Scheduler,
    ) -> None:
        self._sessions = sessions
        self._memory = memory
        self._response_budget = response_budget
        self._idle_ms = idle_ms
        self._scheduler = scheduler
        self._quiet: dict[OpenConnection, Progress] = {}
        self._large: dict[OpenConnection, Progress] = {}

    def __len__(self) -> int:
        """Number of connections without progress."""
        return len(self._quiet.keys() | self._large.keys())

    def begin(self) -> None:
        idle_ms = self._idle_ms if self._idle_ms > 0 else STALLED_MS
        every_ms = max(min(idle_ms, STALLED_MS) // 4, 10)
        self._scheduler.after_ms(every_ms, lambda: self._check(every_ms))

    def forget(self, session: OpenConnection) -> None:
        self._quiet.pop(session, None)
        self._large.pop(session, None)

    def _check(self, passed_ms: int) -> None:
        others_wait = len(self._memory) > 0
        much_unread = self._response_budget.is_scarce
        for session in list(self._sessions):
            if others_wait and session.connection.large_bytes and not session.loads:
                self._check_large(session, passed_ms)
            else:
                self._large.pop(session, None)
            if session.active:
                session.mark_checked()
                self._quiet.pop(session, None)
            else:
                self._check_quiet(session, passed_ms, much_unread)
        self.begin()

    def _check_large(self, session: OpenConnection, passed_ms: int) -> None:
        """Only while other requests wait: a slow upload alone harms no other client."""
        progress = self._large.setdefault(session, Progress())
        connection = session.connection
        allowed_ms = STALLED_MS + connection.large_bytes * 1000 // SLOWEST_BYTES_A_SECOND
        if progress.unchanged_ms(connection.admitted, passed_ms) >= allowed_ms:
            session.abort("slow_request")

    def _check_quiet(self, session: OpenConnection, passed_ms: int, much_unread: bool) -> None:
        unsent_bytes = session.unsent_bytes
        progress = self._quiet.setdefault(session, Progress(unsent_bytes))
        # Unsent bytes are the mark: a slow client may read one large response for minutes.
        quiet_ms = progress.unchanged_ms(unsent_bytes, passed_ms)
        stalled = quiet_ms >= STALLED_MS
        if stalled and unsent_bytes and much_unread:
            session.abort("slow_reader")
        elif session.closing:
            # The transport would wait without limit until all bytes are sent.
            if stalled:
                session.abort()
        elif session.loads:
            if stalled:  # most clients have given up, and others know more
                session.close("not_loaded", expected=True)
        elif session.waiting:
            return  # for a response: not idle
        elif stalled and session.connection.mid_frame:
            session.close("incomplete_request")
        elif 0 < self._idle_ms <= quiet_ms:
            session.close("idle", expected=True)
