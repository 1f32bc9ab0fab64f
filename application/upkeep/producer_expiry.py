"""Producer expiry: idempotent producers that have long been silent are forgotten.

Without it a partition would remember every producer id it has ever seen. One that comes back is
accepted at any sequence, as a producer id that is not known always is.

There may be very many, in memory and in the store, so both are gone through a slice at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from application.commits import Commits
from application.ports.clock import Clock
from application.ports.partition_repository import PartitionRepository
from application.topics.catalog import Catalog
from application.upkeep.spare_time import SpareTime
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed
from domain.partitions.partition import Partition

#: So many producers in memory are looked at in one pass, and so many rows,
PRODUCERS_PER_SLICE = 10_000
ROWS_PER_SLICE = 1000
#: with so long a pause in between.
PAUSE_MS = 5


class ProducerExpiry:
    def __init__(
        self,
        catalog: Catalog,
        partitions: PartitionRepository,
        commits: Commits,
        clock: Clock,
        spare_time: SpareTime,
        config: BrokerConfig,
    ) -> None:
        self._catalog = catalog
        self._partitions = partitions
        self._commits = commits
        self._clock = clock
        self._spare_time = spare_time
        self._config = config
        self._interval_ms = config.producer_id_expiration_check_interval_ms

    def start(self) -> None:
        self._spare_time.after_ms(self._interval_ms, self._expire)

    def _expire(self) -> None:
        before = self._clock.now_ms() - self._config.producer_id_expiration_ms
        self._go_on(iter(self._catalog.loaded()), before)

    def _go_on(self, partitions: Iterator[Partition], before: int) -> None:
        looked_at = 0
        for partition in partitions:
            looked_at += 1 + len(partition.producers)
            partition.producers.expire(before)
            if looked_at >= PRODUCERS_PER_SLICE:
                self._spare_time.after_ms(PAUSE_MS, lambda: self._go_on(partitions, before))
                return
        self._forget_rows(b"", before)

    def _forget_rows(self, place: bytes, before: int) -> None:
        """At the end of a commit: then no snapshot is on its way that a row is older than."""

        def committed(failure: StorageFailed | None) -> None:
            if self._spare_time.is_over:
                return
            following = None if failure else self._slice(place, before)
            if following is None:
                self.start()
            else:
                self._spare_time.after_ms(PAUSE_MS, lambda: self._forget_rows(following, before))

        self._commits.wait(committed)

    def _slice(self, place: bytes, before: int) -> bytes | None:
        try:
            following = self._partitions.forget_silent(before, place, ROWS_PER_SLICE)
        except StorageFailed:
            return None  # whoever uses the store says so; the next round tries again
        # Often there was nothing to remove.
        self._commits.wait(lambda failure: None)
        return following
