"""AdminServer: listens from the start, and imports the HTTP server with the first connection.

Most brokers are never used over HTTP, and the import takes half a second and thirty megabytes. It
runs in a thread of its own; connections wait in the backlog until it is done. It is repeated while
the process has no open file left for it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from application.ports.event_log import EventLog
from interfaces.sockets import ListeningSockets


class HttpServer(Protocol):
    async def serve(self, listening: list[socket.socket]) -> None:
        """Accepts the connections that are pending, and all that follow."""
        ...

    async def drain(self, timeout_seconds: float) -> bool:
        """Accepts no more, completes requests in flight, closes connections; False: not in time."""
        ...

    async def end_requests(self) -> bool:
        """Ends all requests in flight except the caller's; False: there are none."""
        ...


RETRY_S = 1.0

#: Imports and makes the server; called in a thread, with the hosts of all listeners.
MakeHttp = Callable[[list[str]], HttpServer]


class AdminServer:
    def __init__(self, make: MakeHttp, events: EventLog) -> None:
        self._make = make
        self._events = events
        self._hosts: list[str] = []
        #: Host and port of each address that it listens on.
        self.bound: list[tuple[str, int]] = []
        self._sockets: list[socket.socket] = []
        self._starting: asyncio.Task[None] | None = None
        self._http: HttpServer | None = None
        self._lacks_resources = False

    def open(self, sockets: ListeningSockets) -> tuple[str, int]:
        """Returns the host and port of the listener."""
        self._hosts.append(sockets.requested_host)
        for listening in sockets.sockets:
            self._sockets.append(listening)
            asyncio.get_running_loop().add_reader(listening, self._first_connection)
        self.bound.append((sockets.host, sockets.port))
        return sockets.host, sockets.port

    def _first_connection(self) -> None:
        self._remove_readers()
        self._starting = asyncio.create_task(self._start())

    def _remove_readers(self) -> None:
        loop = asyncio.get_running_loop()
        for listening in self._sockets:
            loop.remove_reader(listening)

    async def _start(self) -> None:
        try:
            http = await self._made()
            await http.serve(self._sockets)
            self._http = http
        except Exception as failure:
            self._events.error("admin_server_failed", reason="start", error=failure)
            self.close()

    async def _made(self) -> HttpServer:
        while True:
            try:
                http = await asyncio.to_thread(self._make, self._hosts)
                self._lacks_resources = False
                return http
            except OSError as failure:
                if not self._lacks_resources:
                    self._events.error("admin_server_failed", reason="start", error=failure)
                self._lacks_resources = True
                await asyncio.sleep(RETRY_S)

    async def end_requests(self) -> bool:
        """Ends all requests in flight except the caller's; False: there are none."""
        return self._http is not None and await self._http.end_requests()

    async def drain(self, timeout_seconds: float) -> bool:
        """Raises nothing: the Kafka listeners still have to drain."""
        if self._starting is None or self._lacks_resources:
            if self._starting is not None:
                self._starting.cancel()
            self.close()
            return True
        try:
            await self._starting
            return self._http is None or await self._http.drain(timeout_seconds)
        except Exception as failure:
            self._events.error("admin_server_failed", reason="drain", error=failure)
            return False

    def close(self) -> None:
        """Closes the listeners that no HTTP server has taken over."""
        if self._http is None:
            if self._starting is None and self._sockets:
                self._remove_readers()
            for listening in self._sockets:
                listening.close()
            self._sockets.clear()
            self.bound.clear()
