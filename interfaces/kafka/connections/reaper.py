"""ConnectionReaper: how long a client may keep what others could use.

Every few seconds each connection is looked at; in between this costs nothing.

- idle: nothing asked, answered or read for `connections.max.idle.ms`
- stalled: a request of which nothing more comes, a closed connection whose answers nobody reads
- slow: a large request that has not begun to run while others wait for its memory
- unread: answers of which nothing is read, while those of all connections are many
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from application.ports.request_log import ClientInfo
from application.ports.scheduler import Scheduler
from interfaces.kafka.connections.budgets import ByteBudget, ResponseBudget
from interfaces.kafka.connections.connection import Connection

#: A request of which nothing more comes for so long is given up, and its memory with it; and so
#: are answers of which nothing is read.
STALLED_MS = 30_000
#: A large request that others wait for has that long, and a second more for so many of its bytes.
SLOWEST_BYTES_A_SECOND = 1 << 20


class OpenConnection(Protocol):
    """A session, for those that look after all of them."""

    address: str
    client: ClientInfo
    connection: Connection
    bytes_in: int
    bytes_out: int
    closing: bool

    @property
    def in_flight(self) -> int: ...
    @property
    def unread_bytes(self) -> int: ...
    @property
    def unsent_bytes(self) -> int: ...
    @property
    def waiting(self) -> bool: ...
    @property
    def active(self) -> bool: ...
    def mark_checked(self) -> None: ...
    def flush(self) -> None: ...
    def drain(self) -> None: ...
    def close(self, reason: str, detail: str = "", expected: bool = False) -> None: ...
    def abort(self, reason: str | None = None) -> None: ...


class Progress:
    """What was seen of one connection that keeps something, and for how long."""

    __slots__ = ("mark", "ms")

    def __init__(self, mark: int = -1) -> None:
        self.mark = mark
        self.ms = 0

    def unchanged_ms(self, mark: int, passed_ms: int) -> int:
        """For how long the same has been there."""
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
        """Of how many connections anything is remembered."""
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
            if others_wait and session.connection.large_bytes:
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
        """Counts only while others wait: alone, anybody may take their time."""
        progress = self._large.setdefault(session, Progress())
        connection = session.connection
        allowed_ms = STALLED_MS + connection.large_bytes * 1000 // SLOWEST_BYTES_A_SECOND
        if progress.unchanged_ms(connection.admitted, passed_ms) >= allowed_ms:
            session.abort("slow_request")

    def _check_quiet(self, session: OpenConnection, passed_ms: int, much_unread: bool) -> None:
        unsent_bytes = session.unsent_bytes
        progress = self._quiet.setdefault(session, Progress(unsent_bytes))
        # Less is unsent: one large answer may take long, and its client reads all the while.
        quiet_ms = progress.unchanged_ms(unsent_bytes, passed_ms)
        stalled = quiet_ms >= STALLED_MS
        if stalled and unsent_bytes and much_unread:
            session.abort("slow_reader")
        elif session.closing:
            # The transport waits until everything is sent, however long nobody reads it.
            if stalled:
                session.abort()
        elif session.waiting:
            return  # it is not idle
        elif stalled and session.connection.mid_frame:
            session.close("incomplete_request")
        elif 0 < self._idle_ms <= quiet_ms:
            session.close("idle", expected=True)
