"""SecuredSession: what a TLS connection needs of the connection above it."""

from __future__ import annotations

from typing import Any, Protocol

from domain.security.principal import Principal
from interfaces.connections.other_protocols import Rejection


class SecuredSession(Protocol):
    """A protocol of asyncio, and what the handshake reports to it."""

    principal: Principal

    @property
    def address(self) -> str:
        """Of the client, without a port."""
        ...

    @property
    def closing(self) -> bool: ...

    def connection_made(self, transport: Any) -> None: ...

    def get_buffer(self, sizehint: int) -> Any: ...

    def buffer_updated(self, nbytes: int) -> None: ...

    def eof_received(self) -> bool | None:
        """The client ended its side. Returns True if the connection stays open for this one."""
        ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self, exc: Exception | None) -> None: ...

    def rejection_of_plain(self, first_bytes: bytes) -> Rejection:
        """Of a client that does not use TLS."""
        ...

    def reject(self, reason: str, detail: str, **more: str) -> None:
        """Closes the connection because of bytes that the client sent."""
        ...

    def abort(self) -> None: ...
