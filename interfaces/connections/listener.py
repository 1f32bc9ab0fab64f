"""BaseListener: accepts the connections of one address, of the Kafka protocol or of another."""

from __future__ import annotations

import asyncio

from interfaces.connections.limits import ConnectionLimits
from interfaces.connections.session import LimitedSession
from interfaces.connections.tls import ListenerTls, TlsConnection, TlsIdentity
from interfaces.sockets import BACKLOG, ListeningSockets


class BaseListener:
    """Serves clients at one HOST:PORT."""

    def __init__(self, name: str, identity: TlsIdentity | None = None) -> None:
        """`identity`: None without TLS."""
        self.name = name
        self._tls = None if identity is None else ListenerTls(identity)
        self._sockets: ListeningSockets | None = None
        self._servers: list[asyncio.Server] = []

    @property
    def limits(self) -> ConnectionLimits:
        raise NotImplementedError

    def new_session(self, connection_id: int) -> LimitedSession:
        raise NotImplementedError

    async def start(self, sockets: ListeningSockets) -> None:
        loop = asyncio.get_running_loop()
        self.limits.listeners.append(self.name)
        self._sockets = sockets
        for each in sockets.sockets:
            self._servers.append(
                await loop.create_server(self._connection, sock=each, backlog=BACKLOG)
            )

    def _connection(self) -> asyncio.BufferedProtocol:
        limits, tls = self.limits, self._tls
        session = self.new_session(next(limits.connection_ids))
        return session if tls is None else TlsConnection(session, limits.handshakes, tls)

    @property
    def bound(self) -> tuple[str, int]:
        assert self._sockets is not None
        return self._sockets.host, self._sockets.port

    @property
    def is_open(self) -> bool:
        return bool(self._servers) and all(each.is_serving() for each in self._servers)

    def stop_accepting(self) -> None:
        for server in self._servers:
            server.close()
