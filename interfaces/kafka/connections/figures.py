"""Metrics of connections and of their memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from application.metrics.families import own
from application.metrics.families.family import Reading
from interfaces.kafka.connections.shared import Shared

#: Connections that one slice reads.
PER_SLICE = 200


class ConnectionFigures:
    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def read(self) -> Iterator[Reading]:
        shared = self._shared
        # A listener without connections gets a sample of 0: a missing one would mean no data.
        of_listener: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in shared.listeners})
        unread_bytes = 0
        for number, session in enumerate(list(shared.sessions)):
            of_listener[(session.client.listener,)] += 1
            unread_bytes += session.unread_bytes
            if number % PER_SLICE == PER_SLICE - 1:
                yield own.CONNECTIONS, []
        yield own.CONNECTIONS, list(of_listener.items())
        yield own.CONNECTIONS_MADE, [((), shared.connections.made)]
        yield own.DENIALS, [((), shared.closing_log.denials)]
        yield own.REQUESTS_MEMORY, [((), shared.memory.used_bytes)]
        yield own.UNREAD, [((), unread_bytes)]
