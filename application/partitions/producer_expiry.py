"""Producer expiry: idempotent producers that have been silent for long are forgotten.

Without it a partition would remember every producer id it has ever seen. One that comes back is
accepted at any sequence, as a producer id that is not known always is.
"""

from __future__ import annotations

from application.background.job import END_OF_COMMIT, SLICE, Job
from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.partition_repository import PartitionRepository
from application.state.catalog import Catalog
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed

#: In one commit.
ROWS_PER_COMMIT = 1000


class ProducerExpiry:
    def __init__(
        self,
        catalog: Catalog,
        partitions: PartitionRepository,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
    ) -> None:
        self._catalog = catalog
        self._partitions = partitions
        self._clock = clock
        self._background = background
        self._config = config

    def start(self) -> None:
        interval_ms = self._config.producer_id_expiration_check_interval_ms
        self._background.every(interval_ms, self._expire)

    def _expire(self) -> Job[None]:
        before = self._clock.now_ms() - self._config.producer_id_expiration_ms
        for partition in self._catalog.loaded():
            partition.producers.expire(before)
            yield SLICE
        place: bytes | None = b""
        while place is not None:
            # Then no snapshot is on its way to the store that a row is older than.
            if (yield END_OF_COMMIT) is not None:
                return
            try:
                place = self._partitions.forget_silent(before, place, ROWS_PER_COMMIT)
            except StorageFailed:
                return  # the next round tries again
            # It is often empty: its success would not mean that the store can keep data.
            yield END_OF_COMMIT
            yield SLICE
