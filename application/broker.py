"""Broker: every service in one value; what the interfaces receive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from application.commits import Commits
from application.fetch import FetchService
from application.fetch_sessions import FetchSessions
from application.init_producer_id import InitProducerIdService
from application.list_offsets import ListOffsetsService
from application.metadata import MetadataService
from application.ports.partition_repository import PartitionRepository
from application.produce import ProduceService
from application.topics.catalog import Catalog
from application.topics.create import CreateTopicsService
from application.topics.delete import DeleteTopicsService
from application.topics.dropping import Dropping
from application.topics.partitions import CreatePartitionsService
from application.upkeep.producer_expiry import ProducerExpiry
from domain.configs.broker import BrokerConfig
from domain.errors import StorageFailed


@dataclass(frozen=True)
class Broker:
    cluster_id: str
    config: BrokerConfig
    catalog: Catalog
    commits: Commits
    partitions: PartitionRepository
    produce: ProduceService
    fetch: FetchService
    fetch_sessions: FetchSessions
    list_offsets: ListOffsetsService
    metadata: MetadataService
    create_topics: CreateTopicsService
    delete_topics: DeleteTopicsService
    create_partitions: CreatePartitionsService
    init_producer_id: InitProducerIdService
    dropping: Dropping
    producer_expiry: ProducerExpiry

    def start_upkeep(self) -> None:
        """What goes on beside requests."""
        self.dropping.resume()
        self.producer_expiry.start()

    def stop_upkeep(self) -> None:
        """Nothing of it touches the store from now on."""
        self.dropping.stop()
        self.producer_expiry.stop()

    def snapshot_all(self, done: Callable[[StorageFailed | None], None]) -> None:
        """Keeps a snapshot of every touched partition: the next start reads no headers."""
        grown = [
            partition
            for partition in self.catalog.loaded()
            if partition.bytes_since_snapshot and partition.broken is None
        ]
        for partition in grown:
            self.partitions.snapshot(partition)
        self.commits.when_committed(done, staged=bool(grown))
