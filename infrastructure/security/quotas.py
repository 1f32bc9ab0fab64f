"""The quotas of a broker without quotas."""

from __future__ import annotations

from domain.security.principal import Principal


class NoQuotas:
    unlimited = True

    def throttle_ms(
        self, principal: Principal, client_id: str | None, api: str, bytes_in: int, bytes_out: int
    ) -> int:
        return 0
