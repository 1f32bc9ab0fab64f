"""Producer expiry: removes the state of idempotent producers that sent nothing for long.

An expired producer is accepted at any sequence, like any unknown producer id, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Container
from functools import partial

from application.background.job import END_OF_COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.partition_repository import PartitionRepository
from application.ports.placement import Placement
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
        placement: Placement,
    ) -> None:
        self._catalog = catalog
        self._partitions = partitions
        self._clock = clock
        self._background = background
        self._config = config
        self._placement = placement

    def start(self) -> None:
        interval_ms = self._config.producer_id_expiration_check_interval_ms
        self._background.every(interval_ms, self._expire)

    def _expire(self) -> Job[None]:
        before = self._clock.now_ms() - self._config.producer_id_expiration_ms
        for partition in self._catalog.loaded():
            partition.producers.expire(before, spared=partition.transactions)
            yield SLICE
        in_memory = {one.partition_id: one for one in self._catalog.loaded()}
        unknown: set[int] = set()

        def transactions(partition_id: int) -> Container[int] | None:
            partition = in_memory.get(partition_id)
            if partition is None:
                unknown.add(partition_id)
            return None if partition is None or partition.broken else partition.transactions

        position: bytes | None = b""
        while position is not None:
            # So no snapshot is in flight that is newer than its row.
            if (yield END_OF_COMMIT) is not None:
                return
            try:
                position = self._partitions.forget_silent(
                    before, position, ROWS_PER_COMMIT, transactions, self._is_led
                )
            except StorageFailed:
                return  # until the next round
            # Not COMMIT: often nothing is staged, and storage health would report success.
            yield END_OF_COMMIT
            yield SLICE
        if unknown:
            yield from self._load(unknown)

    def _is_led(self, partition_id: int) -> bool:
        return self._placement.leader(partition_id).node_id == self._placement.node_id

    def _load(self, partition_ids: Container[int]) -> Job[None]:
        """Partitions with a row of an open transaction: the next round knows whether it is."""
        places = [
            (topic.name, index)
            for topic in self._catalog
            for index, partition_id in enumerate(topic.partition_ids)
            if partition_id in partition_ids
        ]
        for place in places:
            yield from loaded(partial(self._catalog.load, [place]))
            yield SLICE
