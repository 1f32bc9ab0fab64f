"""PendingOffsets: the offsets of open transactions, by producer id. Consumers do not see them.

Memory changes with the decision; if the commit fails, the producer's rows are loaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from application.ports.offset_repository import OffsetWrite, PendingOffsetRepository
from application.state.catalog import Catalog
from application.state.coordinators import Coordinators
from application.state.runtime import Aggregates, Done, Runtime, ignore
from domain.groups.offsets import CommittedOffset

#: Group id, topic, partition.
Place = tuple[str, str, int]

NONE_PENDING: Mapping[Place, CommittedOffset] = {}


class PendingOffsets(Aggregates[int, OffsetWrite]):
    def __init__(
        self,
        repository: PendingOffsetRepository,
        catalog: Catalog,
        when_committed: Callable[[Done], None],
        coordinators: Coordinators,
    ) -> None:
        self._repository = repository
        self._catalog = catalog
        self._coordinators = coordinators
        self._when_committed = when_committed
        self._of: dict[int, dict[Place, CommittedOffset]] = {}
        #: The producers of each partition, by group.
        self._producers: dict[str, dict[tuple[str, int], set[int]]] = {}
        #: By producer id.
        self.runtime: Runtime[int, OffsetWrite] = Runtime(self)
        self.load(coordinators.is_here)

    def load(self, group_ids: Callable[[str], bool]) -> None:
        for producer_id, row in list(self._repository.load(includes=group_ids)):
            self._put(producer_id, row)
            if self._catalog.topic_by_id(row[3].topic_id) is None:  # it was deleted
                self.persist(producer_id, [(*row[:3], None)], ignore)

    def unload(self, group_ids: Callable[[str], bool]) -> None:
        """Removes offsets from memory only: another node coordinates their groups."""
        for producer_id, places in list(self._of.items()):
            for place in [one for one in places if group_ids(one[0])]:
                self._put(producer_id, (*place, None))

    def group_ids(self) -> list[str]:
        return list(self._producers)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._producers

    def of(self, producer_id: int) -> Mapping[Place, CommittedOffset]:
        return self._of.get(producer_id, NONE_PENDING)

    def partitions(self, group_id: str) -> Iterable[tuple[str, int]]:
        return self._producers.get(group_id, ())

    def has(self, group_id: str, topic: str, partition: int) -> bool:
        return (topic, partition) in self._producers.get(group_id, ())

    def newest_ms(self, group_id: str, topic: str, partition: int) -> int:
        """The newest timestamp; -1: nothing is pending."""
        producers = self._producers.get(group_id, {}).get((topic, partition), ())
        place = (group_id, topic, partition)
        return max((self._of[one][place].commit_timestamp_ms for one in producers), default=-1)

    def newest_of_group_ms(self, group_id: str) -> int:
        return max(
            (self.newest_ms(group_id, *one) for one in self.partitions(group_id)), default=-1
        )

    # ---- writing

    def persist(self, producer_id: int, writes: Sequence[OffsetWrite], then: Done) -> None:
        self.runtime.persist(producer_id, writes, then)

    def delete(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        """Whichever producers have an offset there."""
        if group_id not in self._producers:
            return
        by_producer: dict[int, list[OffsetWrite]] = {}
        for one in partitions:
            for producer_id in self._producers[group_id].get(one, ()):
                by_producer.setdefault(producer_id, []).append((group_id, *one, None))
        for producer_id, writes in by_producer.items():
            self.persist(producer_id, writes, ignore)

    def delete_topics(self, names: Iterable[str]) -> None:
        deleted = set(names)
        for group_id in self.group_ids():
            self.delete(group_id, [one for one in self._producers[group_id] if one[0] in deleted])

    # ---- Aggregates

    def decided(self, producer_id: int, writes: Sequence[OffsetWrite]) -> None:
        for write in writes:
            self._put(producer_id, write)

    def stage(self, producer_id: int, writes: Sequence[OffsetWrite], done: Done) -> None:
        self._repository.save(producer_id, writes)
        self._when_committed(done)

    def lost(self, producer_id: int, writes: Sequence[OffsetWrite], first: bool) -> None:
        if not first:
            return
        for place in list(self.of(producer_id)):
            self._put(producer_id, (*place, None))
        for _, row in self._repository.load(producer_id, self._coordinators.is_here):
            self._put(producer_id, row)

    def _put(self, producer_id: int, write: OffsetWrite) -> None:
        group_id, topic, partition, committed = write
        if committed is not None:
            self._of.setdefault(producer_id, {})[group_id, topic, partition] = committed
            of_group = self._producers.setdefault(group_id, {})
            of_group.setdefault((topic, partition), set()).add(producer_id)
            return
        if self._of.get(producer_id, {}).pop((group_id, topic, partition), None) is None:
            return
        if not self._of[producer_id]:
            del self._of[producer_id]
        of_group = self._producers[group_id]
        of_group[topic, partition].remove(producer_id)
        if not of_group[topic, partition]:
            del of_group[topic, partition]
        if not of_group:
            del self._producers[group_id]
