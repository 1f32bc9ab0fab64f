"""OffsetsTopicSetup: creates, fills and removes the topic __consumer_offsets after the start.

With the setting on, the topic is created, and the offsets and groups of the store are appended in
slices; then the store has a row that the topic is complete. A start without that row begins again
with a new topic. With the setting off, the topic is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

from application.background.job import COMMIT, SLICE, Job
from application.background.runner import Runner
from application.groups.offsets import Offsets
from application.groups.offsets_topic import OffsetsTopic
from application.groups.registry import Groups
from application.ports.cluster_repository import ClusterRepository, WrittenTopic
from application.ports.offset_repository import OffsetWrite
from application.state.catalog import Catalog
from application.topics.create import CreateTopicsService, NewTopic
from application.topics.delete import DeleteTopicsService
from domain.configs.broker import BrokerConfig
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.states import State
from domain.topics.topic import OFFSETS_TOPIC

#: About a millisecond.
RECORDS_PER_COMMIT = 100

T = TypeVar("T")


class OffsetsTopicSetup:
    def __init__(
        self,
        offsets_topic: OffsetsTopic | None,
        offsets: Offsets,
        groups: Groups,
        catalog: Catalog,
        create_topics: CreateTopicsService,
        delete_topics: DeleteTopicsService,
        cluster: ClusterRepository,
        config: BrokerConfig,
        background: Runner,
    ) -> None:
        """`offsets_topic`: None if the setting is off and there is no topic."""
        self._offsets_topic = offsets_topic
        self._offsets = offsets
        self._groups = groups
        self._catalog = catalog
        self._create_topics = create_topics
        self._delete_topics = delete_topics
        self._cluster = cluster
        self._config = config
        self._background = background

    def start(self) -> None:
        written = self._cluster.offsets_topic()
        if self._config.offsets_topic == "off":
            if written is not None:
                self._background.start(self._remove)
        elif written is None or not written.complete:
            self._offsets.on_loaded(lambda: self._background.start(self._write))

    def _remove(self) -> Job[None]:
        yield from _durably(self._stage_removal)

    def _write(self) -> Job[None]:
        assert self._offsets_topic is not None
        append = self._offsets_topic
        yield from _durably(self._stage_topic)
        for keys in _parts(self._offset_keys()):
            yield from _durably(partial(self._stage_offsets, append, keys))
        for group_ids in _parts([group.group_id for group in self._groups]):
            yield from _durably(partial(self._stage_groups, append, group_ids))
        yield from _durably(partial(self._stage_completeness, append))

    def _stage_removal(self) -> None:
        topic = self._catalog.topic(OFFSETS_TOPIC)
        if topic is not None:
            self._delete_topics.delete([topic])
        self._cluster.save_offsets_topic(None)

    def _stage_topic(self) -> None:
        self._stage_removal()
        configs = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(self._config.offsets_topic_segment_bytes),
        }
        count = self._config.offsets_topic_num_partitions
        topic = self._create_topics.create_internal(NewTopic(OFFSETS_TOPIC, count, configs=configs))
        self._cluster.save_offsets_topic(WrittenTopic(topic.topic_id, complete=False))

    def _offset_keys(self) -> Iterator[tuple[str, str, int]]:
        for group_id in [group.group_id for group in self._groups]:
            for topic, partition in self._offsets.partitions(group_id):
                yield group_id, topic, partition

    def _stage_offsets(self, append: OffsetsTopic, keys: list[tuple[str, str, int]]) -> None:
        """A later commit has appended its own record, and a deletion its tombstone."""
        newest: list[OffsetWrite] = [(*key, self._offsets.newest(*key)) for key in keys]
        append.append_offsets(write for write in newest if write[3] is not None)

    def _stage_groups(self, append: OffsetsTopic, group_ids: list[str]) -> None:
        """A group that rebalances appends its next generation."""
        for group_id in group_ids:
            group = ClassicGroup.of(self._groups.find(group_id))
            if group is None or group.since_ms is None or not group.is_persisted:
                continue
            if group.state in (State.EMPTY, State.STABLE):
                append.append_group(group_id, group.image(group.since_ms))

    def _stage_completeness(self, append: OffsetsTopic) -> None:
        written = self._cluster.offsets_topic()
        if written is not None:
            self._cluster.save_offsets_topic(written._replace(complete=not append.is_damaged))


def _durably(stage: Callable[[], None]) -> Job[None]:
    """Stages changes, again as long as their commit fails."""
    stage()
    while (yield COMMIT) is not None:
        # Other changes of the failed commit are not given up before the next slice.
        yield SLICE
        stage()


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    return iter(lambda: list(islice(rest, RECORDS_PER_COMMIT)), [])
