"""SeenLeases: since when each lease is as it is, by the clock of this process.

The clock of the server may jump, and its time says nothing about how long it was away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infrastructure.storage.postgresql.leases import Lease


class SeenLeases:
    def __init__(self, session_s: float) -> None:
        self._session_s = session_s
        #: By node id: a session and the end of its lease.
        self._since: dict[int, tuple[tuple[int, Any], float]] = {}
        self._read_at = 0.0

    def read(self, leases: Sequence[Lease], at: float) -> None:
        """After a renewal. Without the server no broker could renew a lease: others get the whole
        time again.
        """
        if at - self._read_at > self._session_s:
            self._since.clear()
        self._read_at = at
        for lease in leases:
            sign = lease.session, lease.until
            known, _ = self._since.get(lease.node_id, (None, at))
            if sign != known:
                self._since[lease.node_id] = sign, at

    def is_over(self, lease: Lease) -> bool:
        """When the leases were read: the end of another session may have taken long since, and
        this one may have been renewed meanwhile.
        """
        return self._read_at >= self.until(lease)

    def until(self, lease: Lease) -> float:
        _, since = self._since[lease.node_id]
        return since + self._session_s
