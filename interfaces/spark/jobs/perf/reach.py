"""Whether a broker that is silent is to be given up: it can be reached no more, for so long.

One that starts again within that time is waited for, and so is one that takes connections and
answers nothing: that may be its disk, and is told by the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable

from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed

#: Who has heard of it lately does not look.
_SILENT_S = 1.0
_LOOK_S = 0.5


class Reach:
    """Times are seconds of any clock; `now` is when it was there."""

    def __init__(
        self, servers: str, patience_s: float, now: float, look: Callable[[str], None] = look
    ) -> None:
        self._servers = servers
        self._patience_s = patience_s
        self._look = look
        self._there = now
        self._next = now + _SILENT_S
        #: Why it cannot be reached, of one that was given up.
        self.lost = ""

    def heard(self, now: float) -> None:
        self._there = now

    def is_lost(self, now: float) -> bool:
        """May take a connection, of one that was silent for a while."""
        if now < self._next or now < self._there + _SILENT_S:
            return bool(self.lost)
        self._next = now + _LOOK_S
        try:
            self._look(self._servers)
        except JobFailed as gone:
            if now - self._there >= self._patience_s:
                self.lost = str(gone)
        else:
            self._there = now
        return bool(self.lost)
