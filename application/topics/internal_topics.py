"""InternalTopicSetup: creates, fills and removes an internal topic after the start.

With the setting on, the topic is created, and the rows of the store are appended as records, in
slices; then the store has a row that the topic is complete. A start without that row begins again
with a new topic, unless another broker has begun meanwhile. With the setting off, the topic is
deleted. A broker that finds the topic of another one becomes a replica, if there are too few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from application.background.job import COMMIT, SLICE, Job
from application.background.loaded import loaded
from application.background.runner import Runner
from application.partitions.internal_topic import InternalTopic
from application.partitions.reading import load_all
from application.ports.cluster_changes import ClusterChanges
from application.ports.cluster_repository import ClusterRepository, WrittenTopic
from application.ports.placement import Placement
from application.state.catalog import Catalog
from application.topics.create import CreateTopicsService, NewTopic
from application.topics.delete import DeleteTopicsService

#: About a millisecond.
RECORDS_PER_COMMIT = 100

T = TypeVar("T")


class Contents(Protocol):
    """The rows that an internal topic repeats."""

    def on_loaded(self, call: Callable[[], None]) -> None: ...

    def parts(self) -> Iterator[Callable[[], None]]:
        """Each appends the records of some rows, as they are then."""
        ...


class InternalTopicSetup:
    def __init__(
        self,
        new_topic: NewTopic,
        written_to: InternalTopic | None,
        contents: Contents | None,
        is_on: bool,
        placement: Placement,
        catalog: Catalog,
        create_topics: CreateTopicsService,
        delete_topics: DeleteTopicsService,
        cluster: ClusterRepository,
        changes: ClusterChanges,
        background: Runner,
    ) -> None:
        """`written_to`, `contents`: None if the setting is off and there is no topic.

        A broker that is not alone leaves a topic as it is, which others write.
        """
        self._new_topic = new_topic
        self._written_to = written_to
        self._contents = contents
        self._is_on = is_on
        self._placement = placement
        self._catalog = catalog
        self._create_topics = create_topics
        self._delete_topics = delete_topics
        self._cluster = cluster
        self._changes = changes
        self._background = background
        #: As it was at the start.
        self._found: WrittenTopic | None = None

    def start(self) -> None:
        written = self._found = self._cluster.internal_topic(self._new_topic.name)
        if not self._is_on:
            if written is not None:
                self._background.start(self._remove)
        elif written is None or (self._placement.is_alone and not written.complete):
            assert self._contents is not None
            self._contents.on_loaded(lambda: self._background.start(self._write))
        elif not self._placement.is_alone:
            self._background.start(self._join)
        topic = self._catalog.topic(self._new_topic.name)
        self._load(() if topic is None else topic.partition_ids)
        self._placement.on_moved(self._load)

    def _load(self, partition_ids: Collection[int]) -> None:
        """Partitions to which the next commit of rows appends records."""
        topic, ids = self._catalog.topic(self._new_topic.name), set(partition_ids)
        if topic is not None:
            indexes = [index for index, one in enumerate(topic.partition_ids) if one in ids]
            job = load_all(self._catalog, ((topic.name, index) for index in indexes))
            # Without a callback, a fault of the job would not be logged.
            self._background.run_later(job).then(lambda _: None)

    def _remove(self) -> Job[None]:
        yield from _durably(self._stage_removal)

    def _write(self) -> Job[None]:
        assert self._contents is not None
        if not (yield from _durably(self._stage_topic)):
            yield from self._join()
            return
        for part in self._contents.parts():
            yield from _durably(part)
        yield from _durably(self._stage_completeness)

    def _join(self) -> Job[None]:
        yield from _durably(self._stage_replica)

    def _stage_removal(self) -> None:
        self._changes.check()
        self._remove_topic()

    def _remove_topic(self) -> None:
        topic = self._catalog.topic(self._new_topic.name)
        if topic is not None:
            self._delete_topics.stage([topic])
        self._cluster.save_internal_topic(self._new_topic.name, None)

    def _stage_topic(self) -> bool:
        """False if another broker writes the topic."""
        self._changes.check()
        if self._cluster.internal_topic(self._new_topic.name) != self._found:
            return False
        self._remove_topic()
        topic = self._create_topics.create_internal(self._new_topic)
        written = WrittenTopic(topic.topic_id, complete=False)
        self._cluster.save_internal_topic(topic.name, written)
        return True

    def _stage_replica(self) -> None:
        self._changes.check()
        topic = self._catalog.topic(self._new_topic.name)
        if topic is not None:
            self._create_topics.join_internal(topic)

    def _stage_completeness(self) -> None:
        self._changes.check()
        assert self._written_to is not None
        name = self._new_topic.name
        written = self._cluster.internal_topic(name)
        if written is not None:
            complete = written._replace(complete=not self._written_to.is_damaged)
            self._cluster.save_internal_topic(name, complete)


def _durably(stage: Callable[[], T]) -> Job[T]:
    """Stages changes, again as long as their commit fails."""
    staged = yield from loaded(stage)
    while (yield COMMIT) is not None:
        # Other changes of the failed commit are not given up before the next slice.
        yield SLICE
        staged = yield from loaded(stage)
    return staged


def parts_of(items: Iterable[T]) -> Iterator[list[T]]:
    """Lists of the items that one commit takes."""
    rest = iter(items)
    return iter(lambda: list(islice(rest, RECORDS_PER_COMMIT)), [])
