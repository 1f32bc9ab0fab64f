"""RawListener: an address of the raw stream."""

from __future__ import annotations

from collections.abc import Callable

from application.streams.service import StreamService
from interfaces.connections.limits import ConnectionLimits
from interfaces.connections.listener import BaseListener
from interfaces.connections.tls import TlsIdentity
from interfaces.raw.session import RawSession

#: Those of the broker: a restored snapshot brings others.
Current = Callable[[], tuple[ConnectionLimits, StreamService]]


class RawListener(BaseListener):
    def __init__(self, name: str, current: Current, identity: TlsIdentity | None = None) -> None:
        super().__init__(name, identity)
        self._current = current

    @property
    def limits(self) -> ConnectionLimits:
        return self._current()[0]

    def new_session(self, connection_id: int) -> RawSession:
        limits, streams = self._current()
        return RawSession(limits, connection_id, self.name, streams)
