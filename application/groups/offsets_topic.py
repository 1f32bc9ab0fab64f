"""OffsetsTopic: committed offsets and classic groups as records of __consumer_offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter

from application.partitions.internal_topic import InternalTopic
from application.ports.group_repository import GroupRepository
from application.ports.offset_repository import OffsetRepository, OffsetRow, OffsetWrite
from application.state.runtime import Done
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.metadata_record import group_record
from domain.groups.group import GroupChange
from domain.groups.offsets_topic import offset_records


class OffsetsTopic:
    def __init__(self, topic: InternalTopic) -> None:
        self._topic = topic

    def append_offsets(self, writes: Iterable[OffsetWrite]) -> None:
        for group_id, of_group in groupby(writes, itemgetter(0)):
            offsets = (write[1:] for write in of_group)
            self._topic.append(group_id, partial(offset_records, group_id, offsets))

    def append_group(self, group_id: str, image: Image | None) -> None:
        self._topic.append(group_id, lambda: [group_record(group_id, image)])


class OffsetsInTopic:
    """An OffsetRepository in the store of the records, whose writes are also records."""

    def __init__(self, repository: OffsetRepository, topic: OffsetsTopic) -> None:
        self._repository = repository
        self._topic = topic
        self.leaves_doubt = repository.leaves_doubt

    def load(self, take: Callable[[Sequence[OffsetRow]], None], done: Callable[[], None]) -> None:
        self._repository.load(take, done)

    def load_groups(self, includes: Callable[[str], bool]) -> Iterable[OffsetRow]:
        return self._repository.load_groups(includes)

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

    def load(
        self, group_id: str | None = None, includes: Callable[[str], bool] | None = None
    ) -> Iterable[GroupChange]:
        return self._repository.load(group_id, includes)

    def save(self, change: GroupChange) -> None:
        self._repository.save(change)
        if isinstance(change, GroupMetadataChanged):
            image = change.image
            if image is None or image.is_assigned or not image.members:
                self._topic.append_group(change.group_id, image)
