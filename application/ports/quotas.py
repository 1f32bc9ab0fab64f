"""Quotas: throttle times of clients that exceed their quota."""

from __future__ import annotations

from typing import Protocol

from domain.security.principal import Principal


class Quotas(Protocol):
    #: No client is ever throttled: no calls are made. Constant while the broker runs.
    unlimited: bool

    def throttle_ms(
        self, principal: Principal, client_id: str | None, api: str, bytes_in: int, bytes_out: int
    ) -> int:
        """Called once per request, when its response is complete. The response is sent at once, and
        the connection is muted for the throttle time (KIP-219).
        """
        ...
