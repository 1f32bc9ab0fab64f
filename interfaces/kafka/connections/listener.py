"""Listener: an address of the Kafka protocol."""

from __future__ import annotations

from domain.configs.listener_security import ListenerSecurity
from interfaces.connections.listener import BaseListener
from interfaces.connections.tls import TlsIdentity
from interfaces.kafka.connections.sasl_session import SaslSession
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Shared


class Listener(BaseListener):
    def __init__(
        self, shared: Shared, security: ListenerSecurity, identity: TlsIdentity | None = None
    ) -> None:
        super().__init__(security.name, identity)
        self.shared = shared
        self.security = security

    @property
    def limits(self) -> Shared:
        return self.shared

    def hand_over(self, shared: Shared) -> None:
        """New connections belong to another broker, composed over a restored snapshot."""
        shared.listeners.append(self.name)
        self.shared = shared

    def new_session(self, connection_id: int) -> Session:
        shared = self.shared
        authentication = shared.broker.security.authentication.of(self.security)
        if authentication is None:
            return Session(shared, connection_id, self.name)
        return SaslSession(shared, connection_id, self.name, authentication)

    @property
    def advertised(self) -> tuple[str, int] | None:
        """None: the address that each client connected to."""
        return self.shared.broker.config.advertised(self.name, self.bound[1])
