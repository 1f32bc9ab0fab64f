"""AdminServer: listens from the start, and becomes an HTTP server when somebody connects.

Most brokers are never asked over HTTP. So the sockets listen from the start, and what answers them
is imported, in a thread that does nothing else, when the first connection is pending.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from application.ports.event_log import EventLog
from interfaces.sockets import ListeningSockets


class HttpServer(Protocol):
    async def serve(self, listening: socket.socket) -> None:
        """Accepts who is waiting there, and who comes."""
        ...

    async def drain(self, timeout_seconds: float) -> bool:
        """Accepts nobody, answers what is in flight, ends the connections; False: not in time."""
        ...


#: Imports it, and makes it; called in a thread. Given are the hosts that are listened on.
MakeHttp = Callable[[list[str]], HttpServer]


class AdminServer:
    def __init__(self, make: MakeHttp, events: EventLog) -> None:
        self._make = make
        self._events = events
        self._hosts: list[str] = []
        #: Host and port of each address that it listens on.
        self.bound: list[tuple[str, int]] = []
        self._sockets: list[socket.socket] = []
        self._beginning: asyncio.Task[None] | None = None
        self._http: HttpServer | None = None

    def open(self, sockets: ListeningSockets) -> tuple[str, int]:
        """Where it can be reached."""
        self._hosts.append(sockets.requested_host)
        for listening in sockets.sockets:
            self._sockets.append(listening)
            asyncio.get_running_loop().add_reader(listening, self._somebody_connects)
        self.bound.append((sockets.host, sockets.port))
        return sockets.host, sockets.port

    def _somebody_connects(self) -> None:
        self._stop_looking()
        self._beginning = asyncio.create_task(self._begin())

    def _stop_looking(self) -> None:
        loop = asyncio.get_running_loop()
        for listening in self._sockets:
            loop.remove_reader(listening)

    async def _begin(self) -> None:
        try:
            self._http = await asyncio.to_thread(self._make, self._hosts)
        except Exception as failure:
            self._events.error("admin_server_failed", reason="start", error=failure)
            self.close()
            return
        for listening in self._sockets:
            try:
                await self._http.serve(listening)
            except Exception as failure:
                self._events.error("admin_server_failed", reason="listen", error=failure)
                listening.close()

    async def drain(self, timeout_seconds: float) -> bool:
        """Raises nothing: the Kafka side is still to be ended."""
        if self._beginning is None:
            self.close()
            return True
        try:
            await self._beginning
            return self._http is None or await self._http.drain(timeout_seconds)
        except Exception as failure:
            self._events.error("admin_server_failed", reason="drain", error=failure)
            return False

    def close(self) -> None:
        """What nobody has asked for yet."""
        if self._http is None:
            if self._beginning is None and self._sockets:
                self._stop_looking()
            for listening in self._sockets:
                listening.close()
            self._sockets.clear()
            self.bound.clear()
