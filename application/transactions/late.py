"""LateTransactions: logs and counts transactions that stay open in a partition.

Late, as in Kafka: the last batch is five minutes older than a transaction may last. Transactions
that the coordinator will end are not late, whatever timestamps their clients send.
"""

from __future__ import annotations

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.state.catalog import Catalog
from application.transactions.registry import TransactionRegistry
from domain.configs.broker import BrokerConfig
from domain.partitions.partition import Partition
from domain.transactions.transaction import TopicPartition

#: As Kafka's LATE_TRANSACTION_BUFFER_MS.
BUFFER_MS = 5 * 60_000
PARTITIONS_PER_STEP = 500


class LateTransactions:
    def __init__(
        self,
        registry: TransactionRegistry,
        catalog: Catalog,
        clock: Clock,
        background: Runner,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._registry = registry
        self._catalog = catalog
        self._clock = clock
        self._background = background
        self._config = config
        self._events = events
        #: Partition id and producer id.
        self._late: set[tuple[int, int]] = set()

    @property
    def partition_count(self) -> int:
        """Partitions with late transactions, at the last look."""
        return len({partition_id for partition_id, _ in self._late})

    def start(self) -> None:
        interval_ms = self._config.transaction_abort_timed_out_transaction_cleanup_interval_ms
        self._background.every(interval_ms, self._look)

    def _look(self) -> Job[None]:
        """Partitions that were not used since the start are left out."""
        longest_ms = self._config.transaction_max_timeout_ms + BUFFER_MS
        latest_ms = self._clock.now_ms() - longest_ms
        late: set[tuple[int, int]] = set()
        coordinated = self._coordinated()
        for count, partition in enumerate(self._catalog.loaded(), 1):
            for one in partition.transactions:
                if not _is_late(partition, one.producer_id, latest_ms):
                    continue
                if (partition.topic, partition.index) in coordinated.get(one.producer_id, ()):
                    continue
                late.add((partition.partition_id, one.producer_id))
                if (partition.partition_id, one.producer_id) not in self._late:
                    self._events.warning(
                        "transaction_hanging",
                        topic=partition.topic,
                        partition=partition.index,
                        producer_id=one.producer_id,
                        first_offset=one.first_offset,
                    )
            if not count % PARTITIONS_PER_STEP:
                yield SLICE
                coordinated = self._coordinated()
        self._late = late

    def _coordinated(self) -> dict[int, frozenset[TopicPartition]]:
        """The partitions of all transactions, by producer id."""
        return {one.producer_id: one.partitions for one in self._registry if one.partitions}


def _is_late(partition: Partition, producer_id: int, latest_ms: int) -> bool:
    if partition.broken is not None:
        return False  # a transaction that a failed commit has lost is still in memory
    state = partition.producers.find(producer_id)
    return state is not None and state.last_timestamp < latest_ms
