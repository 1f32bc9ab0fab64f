"""Listener: accepts the connections of one address."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from domain.configs.listener_security import ListenerSecurity
from interfaces.connections.tls import ListenerTls, TlsConnection, TlsIdentity
from interfaces.kafka.connections.sasl_session import SaslSession
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Shared
from interfaces.sockets import BACKLOG, ListeningSockets


@dataclass
class Listener:
    """Serves clients at one HOST:PORT."""

    shared: Shared
    security: ListenerSecurity
    #: None: without TLS.
    identity: TlsIdentity | None = None
    _sockets: ListeningSockets | None = field(default=None, init=False)
    _servers: list[asyncio.Server] = field(default_factory=list, init=False)
    _tls: ListenerTls | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.identity is not None:
            self._tls = ListenerTls(self.identity)

    @property
    def name(self) -> str:
        return self.security.name

    async def start(self, sockets: ListeningSockets) -> None:
        loop = asyncio.get_running_loop()
        self.shared.listeners.append(self.name)
        self._sockets = sockets
        for each in sockets.sockets:
            self._servers.append(
                await loop.create_server(self._session, sock=each, backlog=BACKLOG)
            )

    def hand_over(self, shared: Shared) -> None:
        """New connections belong to another broker, composed over a restored snapshot."""
        shared.listeners.append(self.name)
        self.shared = shared

    def _session(self) -> asyncio.BufferedProtocol:
        shared = self.shared
        number = next(shared.connection_ids)
        authentication = shared.broker.security.authentication.of(self.security)
        if authentication is None:
            session = Session(shared, number, self.name)
        else:
            session = SaslSession(shared, number, self.name, authentication)
        return (
            session if self._tls is None else TlsConnection(session, shared.handshakes, self._tls)
        )

    @property
    def bound(self) -> tuple[str, int]:
        assert self._sockets is not None
        return self._sockets.host, self._sockets.port

    @property
    def advertised(self) -> tuple[str, int] | None:
        """None: the address that each client connected to."""
        return self.shared.broker.config.advertised(self.name, self.bound[1])

    @property
    def is_open(self) -> bool:
        return bool(self._servers) and all(each.is_serving() for each in self._servers)

    def stop_accepting(self) -> None:
        for server in self._servers:
            server.close()
