"""DeleteTopics: the name is gone with the commit; the data goes afterwards, in slices."""

from __future__ import annotations

from collections.abc import Callable

from application.commits import Commits
from application.groups.forgetting import Forgetting
from application.pending import Pending
from application.ports.topic_repository import TopicRepository
from application.topics.catalog import Catalog
from application.topics.dropping import Dropping
from application.topics.turns import after_the_change
from application.watching import Watching
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    InvalidTopic,
    StorageFailed,
    TopicDeletionDisabled,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.topics.topic import INTERNAL_TOPICS, Topic

Deleted = Topic | BrokerError


class DeleteTopicsService:
    def __init__(
        self,
        catalog: Catalog,
        topics: TopicRepository,
        commits: Commits,
        watching: Watching,
        dropping: Dropping,
        forgetting: Forgetting,
        config: BrokerConfig,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._commits = commits
        self._watching = watching
        self._dropping = dropping
        self._forgetting = forgetting
        self._config = config

    def find(self, name: str | None, topic_id: bytes) -> Deleted:
        """The topic that is to go, by the one or the other."""
        if not self._config.delete_topic_enable:
            return TopicDeletionDisabled("Topic deletion is disabled.")
        if name is not None:
            topic = self._catalog.topic(name)
            if topic is None and name in INTERNAL_TOPICS:
                return InvalidTopic(f"Deletion of internal topic {name} is prohibited.")
            if topic is None:
                return UnknownTopicOrPartition("This server does not host this topic-partition.")
        else:
            topic = self._catalog.topic_by_id(topic_id)
            if topic is None:
                return UnknownTopicId("This server does not host this topic ID.")
        return topic

    def delete(self, topics: list[Topic]) -> Pending[list[Deleted]]:
        """One answer each, in order: the topic that is gone, or why it is not."""
        if any(topic.name in self._catalog.changing for topic in topics):
            return after_the_change(self._commits, lambda: self.delete(topics))
        # As they are by now: another may have deleted one meanwhile, or given it partitions.
        found = [self._catalog.topic_by_id(topic.topic_id) for topic in topics]
        there = [topic for topic in found if topic is not None]
        pending: Pending[list[Deleted]] = Pending()

        def committed(failure: StorageFailed | None) -> None:
            gone = UnknownTopicOrPartition("This server does not host this topic-partition.")
            pending.resolve([gone if topic is None else failure or topic for topic in found])

        self._stage(there, committed)
        return pending

    def _stage(self, topics: list[Topic], then: Callable[[StorageFailed | None], None]) -> None:
        if not topics:
            then(None)
            return
        for topic in topics:
            self._topics.delete(topic)
            self._catalog.changing.add(topic.name)

        def committed(failure: StorageFailed | None) -> None:
            self._catalog.changing.difference_update(topic.name for topic in topics)
            if failure is None:
                self._forget(topics)
            then(failure)

        self._commits.when_committed(committed)

    def _forget(self, topics: list[Topic]) -> None:
        for topic in topics:
            held = self._catalog.remove(topic)
            for partition in held:
                self._watching.advanced(partition)
            self._dropping.begin(topic.partition_ids)
        self._forgetting.forget(topics)
