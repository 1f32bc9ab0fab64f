"""TransactionalOffsets: offsets that producers commit in transactions.

    add       -> pending, durable before the response to TxnOffsetCommit
    complete  -> committed: they become committed offsets; aborted: they go; in the log's commit in
                 which the transaction ends

A transaction and plain commits of one partition are ordered by when they were requested, as in
Kafka: its timestamp is larger than that of every offset before it, and so is that of a plain commit
while an offset is pending (`OffsetCommitService.begin`). The largest one counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from application.groups.offset_commit import OffsetCommit
from application.groups.offsets import Offsets
from application.groups.pending_offsets import Place
from application.groups.registry import Groups
from application.ports.offset_repository import OffsetWrite
from application.state.runtime import Done
from domain.errors import CoordinatorNotAvailable, IllegalGeneration, StorageFailed
from domain.groups.classic.group import ClassicGroup

#: Limit of offsets that wait for their database after the end of their transactions.
ENDING_MAX = 100_000


class TransactionalOffsets:
    def __init__(self, offsets: Offsets, groups: Groups) -> None:
        self._offsets = offsets
        self._pending = offsets.pending
        self._groups = groups
        #: Partitions of transactions that end, until consumers see the outcome.
        self._ending: Counter[Place] = Counter()
        self._rows_ending = 0

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether the committed offset may change when a transaction ends."""
        return (
            self._pending.has(group_id, topic, partition)
            or (group_id, topic, partition) in self._ending
        )

    def check(self, commit: OffsetCommit) -> None:
        """Raises if the member may not commit in a transaction now. Creates the group if the
        request names no member.
        """
        if self._rows_ending >= ENDING_MAX:
            raise CoordinatorNotAvailable("Too many offsets of transactions wait to be stored.")
        group = self._groups.find(commit.group_id)
        if group is None:
            if not commit.is_simple:
                raise IllegalGeneration()
            group = ClassicGroup(commit.group_id)
            self._groups.put(group)
        group.check_transactional_commit(commit.member_id, commit.instance_id, commit.epoch)

    def add(
        self, group_id: str, producer_id: int, writes: Sequence[OffsetWrite], then: Done
    ) -> None:
        """`then` is called when they are durable, or lost."""
        added: list[OffsetWrite] = []
        for _, topic, partition, committed in writes:
            assert committed is not None
            before_ms = self._pending.newest_ms(group_id, topic, partition)
            before = self._offsets.newest(group_id, topic, partition)
            if before is not None:
                before_ms = max(before_ms, before.commit_timestamp_ms)
            if committed.commit_timestamp_ms <= before_ms:
                committed = replace(committed, commit_timestamp_ms=before_ms + 1)
            added.append((group_id, topic, partition, committed))
        self._pending.persist(producer_id, added, then)

    def complete(self, producer_id: int, group_ids: Collection[str], committed: bool) -> None:
        """Stages the outcome of the producer's transaction in these groups.

        Raises, without any effect, while committed offsets are loaded, while another node
        coordinates a group, or while it is uncertain whether a later plain commit counts.
        """
        for group_id in group_ids:
            self._offsets.check_here(group_id)
        found = self._pending.of(producer_id).items()
        pending = {place: offset for place, offset in found if place[0] in group_ids}
        if not pending:
            return
        self._offsets.check_loaded()
        by_group: dict[str, list[OffsetWrite]] = defaultdict(list)
        for place, offset in pending.items():
            if not self._offsets.has_topic(offset.topic_id):
                continue  # deleted, and the deletion of the pending offset has failed
            newest = self._offsets.newest(*place)
            if newest is None or newest.commit_timestamp_ms < offset.commit_timestamp_ms:
                by_group[place[0]].append((*place, offset))
            elif committed and self._offsets.may_fail(*place):
                raise CoordinatorNotAvailable("A plain commit of the same partition is in flight.")
        ended = self._until_ended(list(pending))
        self._pending.persist(producer_id, [(*place, None) for place in pending], ended)
        if committed:
            for group_id, writes in by_group.items():
                ended = self._until_ended([write[:3] for write in writes])
                self._offsets.persist_with_log(group_id, writes, ended)

    def _until_ended(self, places: Sequence[Place]) -> Done:
        self._ending.update(places)
        self._rows_ending += len(places)

        def ended(failure: StorageFailed | None) -> None:
            self._rows_ending -= len(places)
            for place in places:
                self._ending[place] -= 1
                if not self._ending[place]:
                    del self._ending[place]

        return ended
