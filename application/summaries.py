"""Summaries of all topics and all groups, one line each, for the console.

Generators, because there may be many: the caller runs them in slices. Before that it loads the
partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from application.groups.lag import lag_behind, log_end_offset
from application.groups.offsets import GroupOffsets, Offsets
from application.groups.registry import Groups
from application.state.catalog import Catalog
from domain.errors import NotLeaderOrFollower, StorageFailed
from domain.groups.group import Group
from domain.partitions.partition import Partition
from domain.topics.topic import Topic


class TopicSummary(NamedTuple):
    topic: Topic
    #: None: some partition cannot be read.
    records: int | None
    size_bytes: int | None
    #: Every record that was ever appended.
    appended: int


class GroupSummary(NamedTuple):
    group: Group
    topics: int
    #: Of the partitions that can be read; None: other brokers lead some.
    lag: int | None


class Summaries:
    def __init__(self, catalog: Catalog, groups: Groups, offsets: Offsets) -> None:
        self._catalog = catalog
        self._groups = groups
        self._offsets = offsets

    def topics(self) -> Iterator[TopicSummary]:
        for topic in list(self._catalog):
            yield self.topic(topic)

    def topic(self, topic: Topic) -> TopicSummary:
        records = size_bytes = appended = 0
        readable = True
        for partition in self.partitions(topic):
            if partition is None:
                readable = False
            else:
                appended += partition.high_watermark
                records += partition.high_watermark - partition.log_start_offset
                size_bytes += getattr(partition.durable, "size_bytes", 0)
        if not readable:
            return TopicSummary(topic, None, None, appended)
        return TopicSummary(topic, records, size_bytes, appended)

    def partitions(self, topic: Topic) -> Iterator[Partition | None]:
        """None for one that cannot be read, or whose topic was deleted meanwhile."""
        for index in range(len(topic.partition_ids)):
            yield self._partition(topic.name, index)

    def _partition(self, topic_name: str, index: int) -> Partition | None:
        topic = self._catalog.topic(topic_name)
        try:
            return None if topic is None else self._catalog.loaded_now(topic, index)
        except (NotLeaderOrFollower, StorageFailed):
            return None  # storage health has logged it

    def groups(self) -> Iterator[GroupSummary]:
        for group in list(self._groups):
            committed = self._offsets.of(group.group_id)
            lags = [self._lag(committed, topic) for topic in list(committed)]
            yield GroupSummary(group, len(committed), sum_of_known(lags))

    def lag_in(self, group_id: str, topic: str) -> int | None:
        """None if the group has committed nothing in the topic, or other brokers lead some."""
        return self._lag(self._offsets.of(group_id), topic)

    def lags_by_topic(self) -> Iterator[tuple[str, int | None]]:
        """Per group and topic, one step each. None: other brokers lead some of it."""
        for group_id in self._offsets.group_ids():
            committed = self._offsets.of(group_id)
            for topic in list(committed):
                yield topic, self._lag(committed, topic)

    def _lag(self, committed: GroupOffsets, topic: str) -> int | None:
        partitions = committed.get(topic)
        if partitions is None or any(self._catalog.is_elsewhere(topic, n) for n in partitions):
            return None
        ends = ((log_end_offset(self._catalog, topic, n), one) for n, one in [*partitions.items()])
        return sum(lag_behind(end, one.offset) or 0 for end, one in ends)

    def groups_of(self, topic: str) -> Iterator[Group]:
        """Groups with committed offsets in the topic."""
        for group_id in self._offsets.group_ids():
            group = self._groups.find(group_id)
            if group is not None and topic in self._offsets.of(group_id):
                yield group

    def committed_in(self, group_id: str, topic: str) -> int:
        """The number of partitions with a committed offset."""
        return len(self._offsets.of(group_id).get(topic, ()))


def sum_of_known(lags: Iterable[int | None]) -> int | None:
    """None if one of them is not known."""
    known = [*lags]
    return None if None in known else sum(lag for lag in known if lag is not None)
