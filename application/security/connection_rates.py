"""ConnectionRates: new connections per second, of each address and of the whole broker (KIP-612).

As in Kafka, a connection that exceeds the quota of its address is closed, after a delay, and does
not count. One that exceeds max.connection.creation.rate is served later.
"""

from __future__ import annotations

from collections import OrderedDict
from math import inf

from application.ports.clock import Clock
from application.security.client_quotas import ClientQuotas
from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import INT_MAX
from domain.security.rate import RateWindows, WindowedRate

#: Addresses that are counted; the least recently seen are dropped.
MAX_ADDRESSES = 10_000


class ConnectionRates:
    def __init__(self, quotas: ClientQuotas, config: BrokerConfig, clock: Clock) -> None:
        self._quotas = quotas
        self._config = config
        self._clock = clock
        window_ms = config.quota_window_size_seconds * 1000
        self._windows = RateWindows(config.quota_window_num, window_ms)
        self._all: WindowedRate | None = None
        #: Least recently used first.
        self._by_address: OrderedDict[str, WindowedRate] = OrderedDict()

    def refused_ms(self, address: str) -> int:
        """Counts a connection. If it exceeds the quota of its address: when to close it."""
        bound = self._quotas.connection_rate(address)
        if bound == inf:
            return 0
        now_ms = self._clock.monotonic_ms()
        rate = self._by_address.get(address)
        if rate is None:
            if len(self._by_address) >= MAX_ADDRESSES:
                self._by_address.popitem(last=False)
            rate = self._by_address[address] = WindowedRate(self._windows, bound, now_ms)
        self._by_address.move_to_end(address)
        rate.bound = bound
        rate.record(1, now_ms)
        throttle_ms = min(rate.throttle_ms(now_ms), self._windows.window_ms)
        if throttle_ms:
            rate.record(-1, now_ms)
        return throttle_ms

    def wait_ms(self) -> int:
        """Counts an accepted connection; how long its requests wait."""
        limit = self._config.max_connection_creation_rate
        if limit >= INT_MAX:
            self._all = None
            return 0
        now_ms = self._clock.monotonic_ms()
        if self._all is None:
            self._all = WindowedRate(self._windows, limit, now_ms)
        self._all.bound = max(limit, 1)  # also with 0, connections are served at last
        self._all.record(1, now_ms)
        return self._all.throttle_ms(now_ms)
