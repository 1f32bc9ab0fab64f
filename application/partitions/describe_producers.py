"""DescribeProducers: the producers of a partition, from memory and from snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from application.background.job import SLICE, Job
from application.background.runner import JobResult, Runner
from application.partitions.reading import load_partition
from application.ports.partition_repository import PartitionRepository
from application.state.catalog import Catalog
from domain.errors import BrokerError, UnknownTopicOrPartition
from domain.partitions.partition import Partition
from domain.partitions.producers import ProducerState
from domain.topics.topic import check_topic_name

#: Rows between two slices.
ROWS_PER_STEP = 200


class ActiveProducer(NamedTuple):
    producer_id: int
    epoch: int
    #: -1 after a marker with a new epoch.
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    #: Of the open transaction, or -1.
    first_offset: int


Described = list[ActiveProducer] | BrokerError


class DescribeProducersService:
    def __init__(
        self, catalog: Catalog, partitions: PartitionRepository, background: Runner
    ) -> None:
        self._catalog = catalog
        self._partitions = partitions
        self._background = background

    def describe(self, places: Sequence[tuple[str, int]]) -> JobResult[list[Described]]:
        """Of each topic and partition, by producer id."""
        return self._background.run(self._describe(places), ends_when_abandoned=True)

    def _describe(self, places: Sequence[tuple[str, int]]) -> Job[list[Described]]:
        found: list[Described] = []
        for name, index in places:
            try:
                found.append((yield from self._producers(name, index)))
            except BrokerError as refused:
                found.append(refused.as_value())
            yield SLICE
        return found

    def _producers(self, name: str, index: int) -> Job[list[ActiveProducer]]:
        check_topic_name(name)
        topic = self._catalog.topic(name)
        if topic is None:
            raise UnknownTopicOrPartition("This server does not host this topic-partition.")
        partition = yield from load_partition(self._catalog, topic, index)
        if partition is None:
            raise UnknownTopicOrPartition()
        found: dict[int, ActiveProducer] = {}
        for count, state in enumerate(self._partitions.producers(partition.partition_id), 1):
            if not partition.producers.is_expired(state):
                found[state.producer_id] = _active(state, partition)
            if not count % ROWS_PER_STEP:
                yield SLICE
        for state in partition.producers:  # newer than in snapshots
            found[state.producer_id] = _active(state, partition)
        return sorted(found.values())


def _active(state: ProducerState, partition: Partition) -> ActiveProducer:
    first_offset = partition.transactions.first_offset(state.producer_id)
    return ActiveProducer(
        state.producer_id,
        state.epoch,
        state.batches[-1].last_sequence if state.batches else -1,
        state.last_timestamp,
        state.coordinator_epoch,
        -1 if first_offset is None else first_offset,
    )
