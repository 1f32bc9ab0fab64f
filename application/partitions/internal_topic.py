"""InternalTopic: appends records to a topic of the broker, in the commit of the rows they repeat.

The rows remain what the broker reads. So a record that cannot be appended, because a partition is
unreadable or the disk is full, fails no request: the next start writes the topic again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from application.partitions.adopting import adopt
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.cluster_changes import ClusterChanges
from application.ports.cluster_repository import ClusterRepository, WrittenTopic
from application.ports.log_store import LogStore, NotInMemory
from application.state.catalog import Catalog
from application.state.commits import Commits
from domain.errors import BrokerError, NotLeaderOrFollower, StorageFailed
from domain.messages.batch import RecordBatch
from domain.messages.building import build_batch
from domain.messages.message import Message
from domain.topics.internal_records import Record, TooLong, partition_of

#: A larger commit is several batches.
BATCH_BYTES = 512 * 1024


class InternalTopic:
    def __init__(
        self,
        name: str,
        catalog: Catalog,
        log: LogStore,
        commits: Commits,
        cluster: ClusterRepository,
        changes: ClusterChanges,
        clock: Clock,
        checksum: Checksum,
    ) -> None:
        self.name = name
        self._catalog = catalog
        self._log = log
        self._commits = commits
        self._cluster = cluster
        self._changes = changes
        self._clock = clock
        self._checksum = checksum
        #: A record could not be appended.
        self.is_damaged = False

    def append(self, key: str, encode: Callable[[], list[Record]]) -> None:
        """`key`: the group id or transactional id that decides the partition."""
        topic = self._catalog.topic(self.name)
        if topic is None:  # it is being created
            return
        try:
            records = encode()
            partition = self._catalog.partition(topic, partition_of(key, len(topic.partition_ids)))
            self._check_room(records)
        except (TooLong, NotLeaderOrFollower):
            # Not the leader: the rows are of a group that has just moved, and are not kept either.
            return
        except BrokerError:
            self._leave_out()
            return
        assert partition is not None, "each key has one of the partitions"
        now_ms = self._clock.now_ms()
        for some in _in_batches(records):
            messages = [Message(0, now_ms, key, value) for key, value in some]
            batch = RecordBatch(memoryview(build_batch(messages, self._checksum)))
            adopt(self._log, self._commits, partition, batch)

    def _check_room(self, records: list[Record]) -> None:
        """On a full disk the reserve is for deletions."""
        health = self._commits.storage_health
        if health.is_full and not health.admits(
            sum(len(key) + len(value or b"") for key, value in records)
        ):
            raise health.refusal()

    def _leave_out(self) -> None:
        if not self.is_damaged:
            self.is_damaged = True
            self._stage_damage()

    def _stage_damage(self) -> None:
        """In the commit of the rows, unless it has to wait for the right."""
        try:
            self._changes.check()
        except NotInMemory as later:
            later.loading.then(lambda _: self._stage_damage())
            return
        topic = self._catalog.topic(self.name)
        if topic is not None:
            written = WrittenTopic(topic.topic_id, complete=False)
            self._cluster.save_internal_topic(self.name, written)
            self._commits.when_committed(self._left_out)

    def _left_out(self, failure: StorageFailed | None) -> None:
        # The rows of a failed commit are lost like their records.
        self.is_damaged = failure is None


def _in_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size_bytes = 0
    for key, value in records:
        batch.append((key, value))
        size_bytes += len(key) + len(value or b"")
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch
