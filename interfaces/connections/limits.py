"""ConnectionLimits: what the connections of all listeners share, of the Kafka protocol or not.

Their number, the memory of large requests and of unread responses, the read buffer, the handshakes,
and how they end.
"""

from __future__ import annotations

import asyncio
from itertools import count
from operator import methodcaller
from typing import Protocol

from application.broker import Broker
from application.ports.event_log import EventLog
from application.ports.scheduler import Scheduler
from application.state.notifying import notify_each
from interfaces.connections.budgets import ByteBudget, ConnectionBudget, ResponseBudget
from interfaces.connections.closing_log import ClosingLog
from interfaces.connections.delayed_closing import DelayedClosing
from interfaces.connections.framing import ReadBuffer
from interfaces.connections.handshakes import Handshakes
from interfaces.connections.reaper import ConnectionReaper, OpenConnection


class Sender(Protocol):
    def flush(self) -> None: ...


class ResponseFlusher:
    """Flushes sessions with completed responses at the end of the pass, each once."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._senders: dict[Sender, None] = {}

    def add(self, sender: Sender) -> None:
        if not self._senders:
            self._scheduler.soon(self.flush)
        self._senders[sender] = None

    def flush(self) -> None:
        senders, self._senders = self._senders, {}
        faults = notify_each(senders, methodcaller("flush"))
        if faults:
            raise faults[0]


class ConnectionLimits:
    def __init__(self, broker: Broker, scheduler: Scheduler, events: EventLog) -> None:
        config = broker.config
        self.broker = broker
        self.scheduler = scheduler
        self.closing_log = ClosingLog(events, scheduler)
        self.response_flusher = ResponseFlusher(scheduler)
        # Flush in the same pass: clients that get their responses together send together, and
        # share the next commit.
        broker.commits.after_each(self.response_flusher.flush)
        self.read_buffer = ReadBuffer()
        self.max_unsent_bytes = config.connection_unsent_max_bytes
        self.sessions: dict[OpenConnection, None] = {}
        self.memory = ByteBudget(config.queued_max_request_bytes)
        self.response_budget = ResponseBudget(
            config.queued_max_response_bytes, self.sessions, scheduler
        )
        self.connections = ConnectionBudget(config)
        self.delayed_closing = DelayedClosing(scheduler)
        self.connection_ids = count(1)
        self.handshakes = Handshakes(config, scheduler)
        #: The names of the listeners.
        self.listeners: list[str] = []
        self._connection_reaper = ConnectionReaper(
            self.sessions,
            self.memory,
            self.response_budget,
            config.connections_max_idle_ms,
            scheduler,
        )
        self._empty: asyncio.Event | None = None

    def add(self, session: OpenConnection) -> None:
        self.sessions[session] = None
        self.connections.add(session.address)
        if self._empty is not None:
            session.drain()

    def remove(self, session: OpenConnection) -> None:
        del self.sessions[session]
        self._connection_reaper.forget(session)
        self.connections.remove(session.address)
        if not self.sessions and self._empty is not None:
            self._empty.set()

    def watch_idle(self) -> None:
        """Starts the connection reaper."""
        self._connection_reaper.begin()

    def send_away(self) -> None:
        """Closes all connections, whose clients may connect again."""
        faults = notify_each(list(self.sessions), lambda one: one.close("no_lease", expected=True))
        if faults:
            raise faults[0]

    # ---- unread responses

    def close_unread(self) -> None:
        """Closes the connections with the most unread bytes if all together are over the limit.

        Their memory is released in the next pass; until then no request runs.
        """
        excess = self.response_budget.excess()
        if not excess or self.response_budget.spent:
            return
        self.response_budget.spent = True
        for session in sorted(self.sessions, key=lambda one: one.unread_bytes, reverse=True):
            if excess <= 0:
                break
            excess -= session.unread_bytes
            session.abort("slow_reader")
        self.scheduler.soon(self._memory_released)

    def _memory_released(self) -> None:
        self.response_budget.spent = False
        for session in self.sessions:
            if session.in_flight:
                self.response_flusher.add(session)

    # ---- the end

    def abort_all(self) -> None:
        """Closes all connections at once."""
        self.delayed_closing.close_all()
        for session in list(self.sessions):
            session.abort()

    async def drain(self, timeout_seconds: float) -> bool:
        """Completes the running requests and closes all connections; False after the timeout."""
        self.closing_log.finish()
        self.delayed_closing.close_all()
        self.broker.messages.fetch.release()
        self.broker.groups.coordinator.release()
        self._empty = asyncio.Event()
        for session in list(self.sessions):
            session.drain()
        if not self.sessions:
            return True
        try:
            await asyncio.wait_for(self._empty.wait(), timeout_seconds)
        except TimeoutError:
            self.abort_all()
            return False
        return True
