"""Consumer lag: the distance from committed offsets to log end offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from application.groups.offsets import Offsets
from application.groups.registry import Groups
from application.state.catalog import Catalog
from domain.errors import BrokerError
from domain.groups.group import Group, GroupMember

#: The member of each assigned partition.
Owners = dict[tuple[str, int], GroupMember]


class PartitionLag(NamedTuple):
    topic: str
    partition: int
    current_offset: int
    #: None: the log cannot be read, or is elsewhere.
    log_end_offset: int | None
    member: GroupMember | None
    #: Another broker leads the partition, or none: its log is not known here.
    is_elsewhere: bool = False

    @property
    def lag(self) -> int | None:
        return lag_behind(self.log_end_offset, self.current_offset)


class GroupLagService:
    def __init__(self, groups: Groups, offsets: Offsets, catalog: Catalog) -> None:
        self._groups = groups
        self._offsets = offsets
        self._catalog = catalog

    def group(self, group_id: str) -> Group:
        """Raises GroupIdNotFound, and CoordinatorLoadInProgress."""
        self._offsets.check_coordinated(group_id)
        return self._groups.existing(group_id)

    def lags(self, group: Group) -> Iterator[PartitionLag]:
        """Of every partition with a committed offset, in order; one step each, for long lists."""
        of = owners(group, self._catalog)
        committed = self._offsets.of(group.group_id)
        partitions = [(topic, index) for topic in committed for index in committed[topic]]
        return (
            lag
            for topic, index in sorted(partitions)
            if (lag := self._lag(group.group_id, topic, index, of)) is not None
        )

    def lag(self, group: Group, topic: str, index: int) -> PartitionLag | None:
        """None: nothing is committed there."""
        return self._lag(group.group_id, topic, index, owners(group, self._catalog))

    def _lag(self, group_id: str, topic: str, index: int, of: Owners) -> PartitionLag | None:
        committed = self._offsets.of(group_id).get(topic, {}).get(index)
        if committed is None:  # deleted since the list began
            return None
        elsewhere = self._catalog.is_elsewhere(topic, index)
        end = None if elsewhere else log_end_offset(self._catalog, topic, index)
        member = of.get((topic, index))
        return PartitionLag(topic, index, committed.offset, end, member, elsewhere)


def log_end_offset(catalog: Catalog, topic: str, index: int) -> int | None:
    """None: the log cannot be read or is elsewhere, or its topic was deleted."""
    try:
        return catalog.existing_partition(topic, index).high_watermark
    except BrokerError:
        return None


def lag_behind(end: int | None, committed: int) -> int | None:
    """Never negative: clients may commit offsets beyond the log end."""
    return None if end is None else max(end - committed, 0)


def owners(group: Group, catalog: Catalog) -> Owners:
    return {
        (topic, partition): member
        for member in group.assigned_members(catalog.topic_by_id)
        for topic, partitions in member.assigned.items()
        for partition in partitions
    }
