"""Producer expiry: idempotent producers that have long been silent are forgotten.

Without it a partition would remember every producer id it has ever seen. One that comes back is
accepted at any sequence, as a producer id that is not known always is.
"""

from __future__ import annotations

from application.ports.clock import Clock
from application.ports.scheduler import Scheduler
from application.topics.catalog import Catalog
from domain.configs.broker import BrokerConfig


class ProducerExpiry:
    def __init__(
        self, catalog: Catalog, clock: Clock, scheduler: Scheduler, config: BrokerConfig
    ) -> None:
        self._catalog = catalog
        self._clock = clock
        self._scheduler = scheduler
        self._expiration_ms = config.producer_id_expiration_ms
        self._interval_ms = config.producer_id_expiration_check_interval_ms

    def start(self) -> None:
        self._scheduler.after_ms(self._interval_ms, self._expire)

    def _expire(self) -> None:
        before = self._clock.now_ms() - self._expiration_ms
        for partition in self._catalog.loaded():
            partition.producers.expire(before)
        self.start()
