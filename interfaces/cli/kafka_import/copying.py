"""Copies the logs of a plan into a store, in bounded commits.

The partitions are doomed meanwhile, so that a broker that starts before the import is complete
removes them. Each commit has a snapshot of the partition, from which an import that was killed
continues; if the log of the folder has changed since, or the store has lost a part, the partition
begins again.
"""

from __future__ import annotations

from collections.abc import Callable

from application.ports.commit import at_once
from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.messages.batch import RecordBatch
from domain.partitions import adopted
from domain.partitions.partition import Partition
from domain.partitions.transactions import OpenTransaction
from infrastructure.kafka_folder.producer_snapshot import SnapshotEntry
from infrastructure.opening import Contents
from infrastructure.storage.engine import Storage
from interfaces.cli.kafka_import.plan import Facts, PartitionPlan, Plan, TopicPlan

#: Of a commit.
COMMIT_BYTES = 32 << 20
_DROPPED_BATCHES, _DROPPED_ROWS = 256, 1000

#: By partition plan, the id in the store.
Ids = dict[PartitionPlan, int]


class Copying:
    def __init__(self, storage: Storage, found: Contents, plan: Plan) -> None:
        self._storage = storage
        self._found = found
        self._plan = plan
        self._staged_bytes = 0
        self.ids: Ids = {}

    def commit(self) -> None:
        """Raises StorageFailed."""
        self._staged_bytes = 0
        at_once(self._storage.commit.commit)

    # ---- partition ids

    def begin(self) -> None:
        """Finds what an import that was killed has left, and gives every partition an id."""
        topics = self._found.topics
        doomed = set(topics.doomed_partitions())
        before = self._found.imports.load(self._plan.source)
        for plan in self._plan.partitions():
            left = before.get(plan.topic, [])
            for partition_id, facts in left[plan.number : plan.number + 1]:
                if partition_id in doomed:
                    doomed.remove(partition_id)
                    if tuple(facts) == tuple(plan.facts) and self._is_whole(plan, partition_id):
                        self.ids[plan] = partition_id
                    else:
                        self._drop(partition_id)
        for left in before.values():
            for partition_id, _ in left:
                if partition_id in doomed:  # of a topic or partition that is gone
                    self._drop(partition_id)
        new = [plan for plan in self._plan.partitions() if plan not in self.ids]
        reserved = topics.reserve_partition_ids(len(new))
        self.ids |= zip(new, reserved, strict=True)
        topics.doom(reserved)
        self._save()

    def distrust(self, partition: PartitionPlan) -> None:
        """The next import begins it again."""
        self._save(partition)

    def _save(self, distrusted: PartitionPlan | None = None) -> None:
        def row(one: PartitionPlan) -> tuple[int, Facts | tuple[()]]:
            return self.ids[one], () if one is distrusted else one.facts

        topics = {topic.name: list(map(row, topic.partitions)) for topic in self._plan.topics}
        self._found.imports.save(self._plan.source, topics)
        self.commit()

    def _is_whole(self, plan: PartitionPlan, partition_id: int) -> bool:
        """A broker may have begun to remove it: oldest batches go first, then the snapshot."""
        start, end = self._found.partitions.snapshot_bounds(partition_id)
        headers = self._storage.log.headers(partition_id, 0, 1, True)
        if not headers:
            return end <= max(start, plan.log.start_offset)
        return RecordBatch(memoryview(headers[0])).base_offset == plan.facts.base_offset and end > 0

    def _drop(self, partition_id: int) -> None:
        found = self._found
        is_empty = False
        while not is_empty:
            is_empty = (
                self._storage.log.drop(partition_id, _DROPPED_BATCHES)
                and found.partitions.forget(partition_id, _DROPPED_ROWS)
                and found.transaction_index.drop(partition_id, _DROPPED_ROWS)
            )
            if is_empty:
                found.topics.dropped(partition_id)
            self.commit()

    # ---- logs

    def copy_all(self, step: Callable[[int], None]) -> None:
        for topic in self._plan.topics:
            for plan in topic.partitions:
                self._copy(topic, plan, step)
        self.commit()

    def _copy(self, topic: TopicPlan, plan: PartitionPlan, step: Callable[[int], None]) -> None:
        config = resolve_topic_config(topic.configs, BrokerConfig())
        partition = Partition(self.ids[plan], topic.name, plan.number, config)
        self._found.partitions.recover(partition)
        next_offset = partition.end.next_offset
        snapshot_at, producers = plan.log.producers(plan.facts.end_offset)
        if not partition.end.size_bytes:
            adopted.begin(partition, plan.log.start_offset, plan.log.leader_epochs())
            next_offset = plan.log.start_offset
            _begin_older(partition, plan, producers)
        settled = partition.end.size_bytes > 0 and next_offset > snapshot_at
        segment_begins = plan.log.start_offset
        # A topic that is no longer compacted has gaps, too.
        cleaned = plan.cleaned_offset or (0 if config.compacted else plan.gap_end)
        cleaned_bytes = 0
        for segment, batch in plan.log.batches():
            if batch.last_offset < cleaned:
                cleaned_bytes += batch.size_bytes
            if segment.base_offset > segment_begins:
                segment_begins = segment.base_offset
                if segment_begins >= next_offset:
                    adopted.begin_segment(partition, segment_begins)
            if batch.last_offset >= next_offset:
                if not settled and batch.base_offset >= snapshot_at:
                    settled = True
                    _settle(partition, producers)
                self._append(partition, batch)
            step(batch.size_bytes)
        if not settled:
            _settle(partition, producers)
        if plan.log.base_offset > segment_begins:  # Kafka has begun it, and appended nothing
            adopted.begin_segment(partition, plan.log.base_offset)
        adopted.end(partition, plan.facts.end_offset, cleaned, cleaned_bytes)
        self._found.partitions.snapshot(partition)

    def _append(self, partition: Partition, batch: RecordBatch) -> None:
        appended, aborted = adopted.append(partition, batch)
        self._storage.log.append(
            partition.partition_id,
            appended.last_offset,
            batch.buffer,
            appended.indexed_timestamp,
            appended.begins_segment,
        )
        if aborted is not None:
            self._found.transaction_index.add(partition.partition_id, aborted)
        self._staged_bytes += batch.size_bytes
        if self._staged_bytes >= COMMIT_BYTES:
            self._found.partitions.snapshot(partition)
            self.commit()


def _begin_older(partition: Partition, plan: PartitionPlan, producers: list[SnapshotEntry]) -> None:
    """Transactions whose first batches are not retained."""
    first = plan.facts.base_offset if plan.facts.batches else plan.facts.end_offset
    older = [one for one in producers if 0 <= one.first_offset < first]
    _settle(partition, older)


def _settle(partition: Partition, producers: list[SnapshotEntry]) -> None:
    opened = [
        OpenTransaction(one.producer_id, one.first_offset)
        for one in producers
        if one.first_offset >= 0
    ]
    adopted.settle(partition, (one.state() for one in producers), opened)
