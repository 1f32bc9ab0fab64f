"""Offsets: the committed offsets of all groups. Reads see durable commits only.

If a failed write may be persisted all the same (`leaves_doubt`), memory is written over it as soon
as writes succeed again: no offset appears after a restart that no client has seen.

Deletions see writes that are in flight, because they are persisted after them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from application.groups.pending_offsets import PendingOffsets
from application.groups.registry import Groups
from application.ports.offset_repository import OffsetRepository, OffsetRow, OffsetWrite
from application.state.catalog import Catalog
from application.state.coordinators import Coordinators
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.errors import CoordinatorLoadInProgress
from domain.groups.classic.group import ClassicGroup
from domain.groups.offsets import CommittedOffset
from domain.topics.topic import Topic

GroupOffsets = Mapping[str, Mapping[int, CommittedOffset]]

NOTHING: GroupOffsets = {}


class _WithLog(list[OffsetWrite]):
    """Offsets that a transaction commits."""


class Offsets(Aggregates[str, OffsetWrite]):
    def __init__(
        self,
        repository: OffsetRepository,
        groups: Groups,
        catalog: Catalog,
        coordinators: Coordinators,
        pending: PendingOffsets,
    ) -> None:
        self._repository = repository
        #: Of open transactions.
        self.pending = pending
        self._coordinators = coordinators
        self._groups = groups
        self._catalog = catalog
        self._by_group: dict[str, dict[str, dict[int, CommittedOffset]]] = {}
        #: By group: all writes of a decision are of one group.
        self.runtime: Runtime[str, OffsetWrite] = Runtime(self)
        #: By group, partitions whose offset in the store may differ from memory.
        self._doubtful: dict[str, set[tuple[str, int]]] = defaultdict(set)
        #: Rows of deleted topics that were found when they were loaded.
        self.stale: list[OffsetWrite] = []
        #: Until then requests get CoordinatorLoadInProgress.
        self.loaded = False
        self._on_loaded: list[Callable[[], None]] = []
        groups.on_removed(self._ensure_group)
        self._ensure_groups(pending.group_ids())
        repository.load(self._take_here, self._all_taken)

    # ---- start, and moves of groups

    def load(self, group_ids: Callable[[str], bool]) -> None:
        """Those that another node has coordinated so far."""
        self._take(self._repository.load_groups(group_ids))
        self._ensure_groups(filter(group_ids, [*self._by_group, *self.pending.group_ids()]))

    def unload(self, group_ids: Callable[[str], bool]) -> None:
        """Removes offsets from memory only: another node coordinates their groups."""
        self.runtime.drop(group_ids)
        for group_id in filter(group_ids, list(self._by_group)):
            del self._by_group[group_id]
        self.stale = [row for row in self.stale if not group_ids(row[0])]

    def _take_here(self, rows: Sequence[OffsetRow]) -> None:
        is_here = self._coordinators.is_here
        self._take(row for row in rows if is_here(row[0]))

    def _take(self, rows: Iterable[OffsetRow]) -> None:
        """Skips deleted topics, which are compared by id: the name may be in use again."""
        for group_id, topic, partition, committed in rows:
            known = self._catalog.topic(topic)
            if known is None or known.topic_id != committed.topic_id:
                self.stale.append((group_id, topic, partition, None))
            else:
                self._put(group_id, topic, partition, committed)

    def _all_taken(self) -> None:
        self._ensure_groups(self._by_group)
        self.loaded = True
        for call in self._on_loaded:
            call()

    def on_loaded(self, call: Callable[[], None]) -> None:
        if self.loaded:
            call()
        else:
            self._on_loaded.append(call)

    def check_loaded(self) -> None:
        if not self.loaded:
            raise CoordinatorLoadInProgress()

    def coordinates(self, group_id: str) -> bool:
        """True if this node is the coordinator."""
        return self._coordinators.is_here(group_id)

    def check_here(self, group_id: str) -> None:
        self._coordinators.check_here(group_id)

    def check_copies(self) -> None:
        """Before a commit. Raises CoordinatorNotAvailable."""
        self._coordinators.check_copies()

    def check_coordinated(self, group_id: str) -> None:
        """For requests of clients.

        Raises unless this node coordinates the group and has loaded its offsets.
        """
        self.check_loaded()
        self._coordinators.check_to_serve(group_id)

    @property
    def has_lease(self) -> bool:
        """Otherwise another node may coordinate the groups of this one."""
        return self._coordinators.has_lease

    def _ensure_groups(self, group_ids: Iterable[str]) -> None:
        for group_id in group_ids:
            self._ensure_group(group_id)

    def check_to_fetch(self, group_id: str) -> None:
        """As `check_coordinated`; raises, too, if another broker may have newer offsets."""
        self.check_loaded()
        self._coordinators.check_to_fetch(group_id)

    def _ensure_group(self, group_id: str) -> None:
        """Offsets imply a group: nothing else is persisted of a simple group."""
        if self.has_any(group_id) and self._groups.find(group_id) is None:
            self._groups.put(ClassicGroup(group_id))

    def has_any(self, group_id: str) -> bool:
        """Whether the group has an offset, or one of a transaction, once all writes in flight are
        durable.
        """
        return group_id in self.pending or any(True for _ in self.partitions(group_id))

    # ---- reading

    def of(self, group_id: str) -> GroupOffsets:
        return self._by_group.get(group_id, NOTHING)

    def holds(self, group_id: str) -> bool:
        """Whether the group has an offset, durable or in flight."""
        return group_id in self._by_group or group_id in self.runtime

    def has_pending_commit(self, group_id: str) -> bool:
        """Whether a commit of the group is not durable yet."""
        return any(
            write[3] is not None for writes in self.runtime.in_flight(group_id) for write in writes
        )

    def partitions(self, group_id: str) -> Iterator[tuple[str, int]]:
        """Partitions with an offset once all writes in flight are durable.

        Grouped by topic, because the store writes neighbouring rows faster.
        """
        newest = {
            (topic, partition): committed is not None
            for writes in self.runtime.in_flight(group_id)
            for _, topic, partition, committed in writes
        }
        for topic, partitions in list(self.of(group_id).items()):
            for partition in list(partitions):
                if newest.pop((topic, partition), True):
                    yield topic, partition
        yield from (partition for partition, stays in newest.items() if stays)

    def has(self, group_id: str, topic: str, partition: int) -> bool:
        return partition in self.of(group_id).get(topic, ())

    def has_topic(self, topic_id: bytes) -> bool:
        return self._catalog.topic_by_id(topic_id) is not None

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """By the topic with this name, or by a deleted one that had it."""
        return any(
            (topic, partition) == write[1:3] and write[3] is not None
            for writes in self.runtime.in_flight(group_id)
            for write in writes
        )

    def may_fail(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether a plain commit is in flight that may fail although the log's commit succeeds."""
        return self._repository.leaves_doubt and any(
            (topic, partition) == write[1:3]
            for writes in self.runtime.in_flight(group_id)
            if not isinstance(writes, _WithLog)
            for write in writes
        )

    def newest(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The offset once all writes in flight are durable."""
        for writes in reversed(self.runtime.in_flight(group_id)):
            for write in reversed(writes):
                if (topic, partition) == write[1:3]:
                    return write[3]
        return self.of(group_id).get(topic, {}).get(partition)

    @property
    def pending_commits(self) -> int:
        """Commits that are not durable yet."""
        return self.runtime.decisions

    def group_ids(self) -> list[str]:
        return list(self._by_group)

    # ---- writing

    def persist(self, group_id: str, writes: Sequence[OffsetWrite], then: Done) -> None:
        """Writes of one group; `then` is called when they are durable, or lost."""
        self.runtime.persist(group_id, writes, then)

    def persist_with_log(self, group_id: str, writes: Sequence[OffsetWrite], then: Done) -> None:
        """Like `persist`, but the log's next commit decides; `then` may be called after it."""
        self.runtime.persist(group_id, _WithLog(writes), then)

    def delete(self, group_id: str, partitions: Iterable[tuple[str, int]], then: Done) -> None:
        """Also the offsets of open transactions, as in Kafka."""
        partitions = list(partitions)
        self.persist(group_id, [(group_id, *one, None) for one in partitions], then)
        self.pending.delete(group_id, partitions)

    # Aggregates

    def stage(self, group_id: str, writes: Sequence[OffsetWrite], done: Done) -> None:
        if isinstance(writes, _WithLog):
            self._repository.apply_with_log(writes, done)
        else:
            self._repository.apply(writes, done)

    def committed(self, group_id: str, writes: Sequence[OffsetWrite]) -> None:
        self._apply(writes)
        if self._doubtful:
            self._doubtful[group_id].difference_update(write[1:3] for write in writes)
            self._rewrite_doubtful()

    def lost(self, group_id: str, writes: Sequence[OffsetWrite], first: bool) -> None:
        # An offset that could not be deleted needs its group.
        self._ensure_group(group_id)
        if self._repository.leaves_doubt:
            self._doubtful[group_id].update(write[1:3] for write in writes)

    def _rewrite_doubtful(self) -> None:
        """Except for groups with writes in flight, which are newer."""
        for group_id in [one for one in self._doubtful if one not in self.runtime]:
            durable = self.of(group_id)
            writes: list[OffsetWrite] = [
                (group_id, topic, partition, durable.get(topic, {}).get(partition))
                for topic, partition in self._doubtful.pop(group_id, ())
            ]
            if writes:
                self.persist(group_id, writes, ignore)

    def forget(self, topics: Iterable[Topic]) -> list[OffsetWrite]:
        """Removes the offsets of deleted topics from memory; returns their rows in the store."""
        deleted = {topic.name for topic in topics}
        self.pending.delete_topics(deleted)
        rows: list[OffsetWrite] = [
            (group_id, topic, partition, None)
            for group_id, of_topics in self._by_group.items()
            for topic in deleted & of_topics.keys()
            for partition in of_topics[topic]
        ]
        for group_id, topic, partition, _ in rows:
            self._remove(group_id, topic, partition)
        rows += [
            (group_id, topic, partition, None)
            for writes in self.runtime.all_in_flight()
            for group_id, topic, partition, _ in writes
            if topic in deleted
        ]
        return rows

    def drop(self, rows: Sequence[OffsetWrite], then: Done) -> None:
        """Deletes rows whose offsets are no longer in memory."""
        self._repository.apply(rows, then)

    def _apply(self, writes: Sequence[OffsetWrite]) -> None:
        """Writes of one group; neighbours mostly have the same topic."""
        topic_id: bytes | None = None
        partitions: dict[int, CommittedOffset] | None = None
        for group_id, topic, partition, committed in writes:
            if committed is None:
                self._remove(group_id, topic, partition)
                topic_id = None
                continue
            if committed.topic_id is not topic_id:
                topic_id = committed.topic_id
                is_there = self.has_topic(topic_id)
                partitions = self._topic_of(group_id, topic) if is_there else None
            if partitions is not None:
                partitions[partition] = committed

    def _put(self, group_id: str, topic: str, partition: int, committed: CommittedOffset) -> None:
        self._topic_of(group_id, topic)[partition] = committed

    def _topic_of(self, group_id: str, topic: str) -> dict[int, CommittedOffset]:
        topics = self._by_group.get(group_id)
        if topics is None:
            topics = self._by_group[group_id] = {}
        partitions = topics.get(topic)
        if partitions is None:
            partitions = topics[topic] = {}
        return partitions

    def _remove(self, group_id: str, topic: str, partition: int) -> None:
        topics = self._by_group.get(group_id)
        partitions = None if topics is None else topics.get(topic)
        if topics is None or partitions is None:
            return
        partitions.pop(partition, None)
        if not partitions:
            del topics[topic]
        if not topics:
            del self._by_group[group_id]
