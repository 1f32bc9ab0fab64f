"""Listener: binds an address and accepts connections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Advertised, Shared
from interfaces.sockets import BoundSockets, bind

BACKLOG = 1024


@dataclass
class Listener:
    """One HOST:PORT. `start` raises OSError when it cannot be bound."""

    shared: Shared
    name: str
    host: str
    port: int
    advertised: Advertised
    _bound: BoundSockets | None = field(default=None, init=False)
    _servers: list[asyncio.Server] = field(default_factory=list, init=False)

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.shared.advertise(self.advertised)
        self._bound = bind(self.host, self.port)
        for bound in self._bound.sockets:
            self._servers.append(
                await loop.create_server(self._session, sock=bound, backlog=BACKLOG)
            )

    def _session(self) -> Session:
        return Session(self.shared, next(self.shared.connection_ids), self.name)

    @property
    def bound(self) -> tuple[str, int]:
        assert self._bound is not None
        return self._bound.host, self._bound.port

    @property
    def is_open(self) -> bool:
        return bool(self._servers) and all(each.is_serving() for each in self._servers)

    def stop_accepting(self) -> None:
        for server in self._servers:
            server.close()
