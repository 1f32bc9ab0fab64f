"""TopicState: topics with changes in flight, and how they are persisted.

The catalogue has the durable topics, which clients see. A decision also sees topics that are
created, altered or deleted in the same pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from application.groups.offset_cleanup import OffsetCleanup
from application.ports.cluster_changes import ClusterChanges
from application.ports.topic_repository import TopicRepository
from application.state.catalog import Catalog
from application.state.commits import Commits
from application.state.runtime import AggregateKey, Aggregates, Done, Runtime, if_durable, ignore
from application.topics.dropping import Dropping
from domain.topics.topic import Topic


class TopicChange(NamedTuple):
    topic: Topic
    deleted: bool = False


Changes = Sequence[TopicChange]

#: Counts partitions that are created or deleted for the quota of the client; raises
#: ThrottlingQuotaExceeded.
CountPartitions = Callable[[int], None]


def uncounted(partitions: int) -> None:
    """For changes of the broker itself."""


def partition_counts(topics: Iterable[Topic]) -> dict[str, int]:
    return {topic.name: len(topic.partition_ids) for topic in topics}


class TopicState(Aggregates[str, TopicChange]):
    def __init__(
        self,
        repository: TopicRepository,
        catalog: Catalog,
        commits: Commits,
        dropping: Dropping,
        offset_cleanup: OffsetCleanup,
        changes: ClusterChanges,
    ) -> None:
        self._repository = repository
        self._catalog = catalog
        self._commits = commits
        self._dropping = dropping
        self._offset_cleanup = offset_cleanup
        #: To be checked before topics are changed, or anything else.
        self.changes = changes
        #: By the topic's name.
        self.runtime: Runtime[str, TopicChange] = Runtime(self)
        repository.follow(self._followed)

    def find(self, name: str) -> Topic | None:
        newest = self.runtime.newest(name)
        if newest is None:
            return self._catalog.topic(name)
        return None if newest.deleted else newest.topic

    def keys(self, names: Iterable[str]) -> list[AggregateKey]:
        return [(self.runtime, name) for name in names]

    def save(self, topic: Topic, then: Done = ignore) -> None:
        self.runtime.persist(topic.name, (TopicChange(topic),), then)

    def delete(self, topic: Topic) -> None:
        self.runtime.persist(topic.name, (TopicChange(topic, deleted=True),), ignore)

    def when_durable(
        self, changed: Sequence[Topic], call: Callable[[Sequence[Topic]], None]
    ) -> None:
        """Calls back once for topics that were changed in one pass: they share a commit."""
        if changed:
            self.runtime.when_durable(changed[-1].name, if_durable(partial(call, changed)))

    def forget(self, deleted: Sequence[Topic]) -> None:
        """Forgets their committed offsets."""
        self._offset_cleanup.forget(deleted)

    def _followed(self, changed: Mapping[str, Topic | None]) -> None:
        """Another broker has changed these topics."""
        deleted: list[Topic] = []
        for name, topic in changed.items():
            before = self._catalog.topic(name)
            if before is not None and (topic is None or topic.topic_id != before.topic_id):
                self._catalog.remove(before)
                deleted.append(before)
            if topic is not None:
                self._catalog.put(topic)
        self.forget(deleted)
        if deleted or None in changed.values():  # created and deleted meanwhile
            self._dropping.start_soon()

    # ---- Aggregates

    def stage(self, name: str, changes: Changes, done: Done) -> None:
        for topic, deleted in changes:
            if deleted:
                self._repository.delete(topic)
            else:
                self._repository.save(topic)
        self._commits.when_committed(done)

    def committed(self, name: str, changes: Changes) -> None:
        for topic, deleted in changes:
            if deleted:
                self._catalog.remove(topic)
                self._dropping.begin(topic.partition_ids)
            else:
                self._catalog.put(topic)
