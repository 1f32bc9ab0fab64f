"""OffsetsTopic: appends the records of __consumer_offsets, in the commit of the rows they repeat.

The rows remain what the broker reads. So a record that cannot be appended, because a partition is
unreadable or the disk is full, fails no request: the next start writes the topic anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter

from application.partitions.adopting import adopt
from application.ports.checksum import Checksum
from application.ports.clock import Clock
from application.ports.cluster_repository import ClusterRepository, WrittenTopic
from application.ports.group_repository import GroupRepository
from application.ports.log_store import LogStore
from application.ports.offset_repository import OffsetRepository, OffsetRow, OffsetWrite
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.state.runtime import Done
from application.state.storage_health import NO_ROOM
from domain.errors import BrokerError, StorageFailed
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.metadata_record import group_record
from domain.groups.group import GroupChange
from domain.groups.offsets_topic import Record, TooLong, offset_records, partition_of
from domain.messages.batch import RecordBatch
from domain.messages.building import build_batch
from domain.messages.message import Message
from domain.topics.topic import OFFSETS_TOPIC, Topic

#: A larger commit is several batches.
BATCH_BYTES = 512 * 1024


class OffsetsTopic:
    def __init__(
        self,
        catalog: Catalog,
        log: LogStore,
        commits: Commits,
        cluster: ClusterRepository,
        clock: Clock,
        checksum: Checksum,
    ) -> None:
        self._catalog = catalog
        self._log = log
        self._commits = commits
        self._cluster = cluster
        self._clock = clock
        self._checksum = checksum
        #: A record could not be appended.
        self.is_damaged = False

    def append_offsets(self, writes: Iterable[OffsetWrite]) -> None:
        for group_id, of_group in groupby(writes, itemgetter(0)):
            offsets = (write[1:] for write in of_group)
            self._append(group_id, partial(offset_records, group_id, offsets))

    def append_group(self, group_id: str, image: Image | None) -> None:
        self._append(group_id, lambda: [group_record(group_id, image)])

    def _append(self, group_id: str, encode: Callable[[], list[Record]]) -> None:
        topic = self._catalog.topic(OFFSETS_TOPIC)
        if topic is None:  # it is being created
            return
        try:
            records = encode()
            index = partition_of(group_id, len(topic.partition_ids))
            partition = self._catalog.partition(topic, index)
            self._check_room(records)
        except TooLong:
            return
        except BrokerError:
            self._leave_out(topic)
            return
        assert partition is not None, "a group has one of the partitions"
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
            raise StorageFailed(NO_ROOM)

    def _leave_out(self, topic: Topic) -> None:
        if not self.is_damaged:
            self.is_damaged = True
            self._cluster.save_offsets_topic(WrittenTopic(topic.topic_id, complete=False))
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


class OffsetsInTopic:
    """An OffsetRepository in the store of the records, whose writes are also records."""

    def __init__(self, repository: OffsetRepository, topic: OffsetsTopic) -> None:
        self._repository = repository
        self._topic = topic
        self.leaves_doubt = repository.leaves_doubt

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        self._repository.load(take, done)

    def apply(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._topic.append_offsets(writes)
        self._repository.apply(writes, done)

    def apply_with_log(self, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._topic.append_offsets(writes)
        self._repository.apply_with_log(writes, done)

    def close(self) -> None:
        self._repository.close()


class GroupsInTopic:
    """A GroupRepository in which generations of classic groups are also records.

    As in Kafka, when they have their assignment, or no members.
    """

    def __init__(self, repository: GroupRepository, topic: OffsetsTopic) -> None:
        self._repository = repository
        self._topic = topic

    def load(self, group_id: str | None = None) -> Iterable[GroupChange]:
        return self._repository.load(group_id)

    def save(self, change: GroupChange) -> None:
        self._repository.save(change)
        if isinstance(change, GroupMetadataChanged):
            image = change.image
            if image is None or image.is_assigned or not image.members:
                self._topic.append_group(change.group_id, image)
