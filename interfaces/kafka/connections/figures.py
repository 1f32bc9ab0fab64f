"""What is read of connections, and of the memory that they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from application.metrics.families import own
from application.metrics.families.family import Reading
from application.metrics.requests import Counted
from interfaces.kafka.connections.shared import Shared

#: Connections that are looked at before others may run.
LOOKED_AT_ONCE = 200


class ConnectionFigures:
    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def counted(self) -> list[Counted]:
        """What was counted of each version of each API that was asked for."""
        routes = self._shared.routes.made.values()
        return [(route.title, route.version, route.counts) for route in routes]

    def read(self) -> Iterator[Reading]:
        shared = self._shared
        # Where nobody is connected that is told too: no sample would read as no data.
        of_listener: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in shared.listeners})
        unread_bytes = 0
        for number, session in enumerate(list(shared.sessions)):
            of_listener[(session.client.listener,)] += 1
            unread_bytes += session.unread_bytes
            if number % LOOKED_AT_ONCE == LOOKED_AT_ONCE - 1:
                yield own.CONNECTIONS, []
        yield own.CONNECTIONS, list(of_listener.items())
        yield own.CONNECTIONS_MADE, [((), shared.connections.made)]
        yield own.REQUESTS_MEMORY, [((), shared.memory.used_bytes)]
        yield own.UNREAD, [((), unread_bytes)]
