"""Quotas: for how long a client that has used more than its share is throttled."""

from __future__ import annotations

from typing import Protocol

from domain.security.principal import Principal


class Quotas(Protocol):
    #: No client is ever throttled: nothing is asked. It does not change while the broker runs.
    unlimited: bool

    def throttle_ms(
        self, principal: Principal, client_id: str | None, api: str, bytes_in: int, bytes_out: int
    ) -> int:
        """Asked once for each request, when its response is complete. That is sent at once, and
        nothing more is read from the connection for so long (KIP-219).
        """
        ...
