"""LeaseWatch: a broker whose lease is over sends its clients away.

Others may lead what it leads, and know more. Clients that hold connections to it would wait for
their own timeouts, and ask it who leads.
"""

from __future__ import annotations

from collections.abc import Callable

from application.broker import Broker
from application.ports.event_log import EventLog

CHECK_MS = 1000
#: On a busy machine a lease is over for a moment, too. As long as Kafka waits for a commit of
#: offsets.
AFTER_MS = 5000


class LeaseWatch:
    def __init__(self, broker: Broker, events: EventLog, send_away: Callable[[], None]) -> None:
        """`send_away`: closes the connections of clients; they may connect again."""
        self._broker = broker
        self._events = events
        self._send_away = send_away
        self._over_ms = 0

    def start(self) -> None:
        self._broker.background.after_ms(CHECK_MS, self._look)

    def _look(self) -> None:
        self.start()
        groups, produce = self._broker.groups.coordinator, self._broker.messages.produce
        if self._broker.placement.has_lease:
            if self._over_ms:
                groups.resume()
            if self._over_ms >= AFTER_MS:
                self._events.info("lease_renewed")
            self._over_ms = 0
            return
        groups.hold()
        produce.ask_first()
        self._over_ms += CHECK_MS
        if self._over_ms == AFTER_MS:
            self._events.warning("lease_over")
            self._send_away()
