"""DeleteTopics: the topic disappears with the commit; its data is removed later, in slices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from application.ports.event_log import EventLog, topic_lines
from application.ports.pending import Pending, later
from application.ports.request_log import NO_CLIENT, Requester
from application.state.catalog import Catalog
from application.state.runtime import respond
from application.topics.state import CountPartitions, TopicState, partition_counts, uncounted
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    InvalidTopic,
    ThrottlingQuotaExceeded,
    TopicDeletionDisabled,
    UnknownTopicId,
    UnknownTopicOrPartition,
)
from domain.topics.topic import INTERNAL_TOPICS, WRITTEN_TOPICS, Topic

Deleted = Topic | BrokerError


class DeleteTopicsService:
    def __init__(
        self,
        catalog: Catalog,
        topics: TopicState,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._config = config
        self._events = events

    def check_newest(self) -> None:
        """Before `find`: another broker may just have created a topic.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        self._topics.changes.check()

    def find(self, name: str | None, topic_id: bytes) -> Deleted:
        """The topic to delete, by name or id."""
        if not self._config.delete_topic_enable:
            return TopicDeletionDisabled("Topic deletion is disabled.")
        if name is not None:
            topic = self._catalog.topic(name)
            if name in INTERNAL_TOPICS and (topic is None or self.is_prohibited(topic)):
                return InvalidTopic(f"Deletion of internal topic {name} is prohibited.")
            if topic is None:
                return UnknownTopicOrPartition("This server does not host this topic-partition.")
        else:
            topic = self._catalog.topic_by_id(topic_id)
            if topic is None:
                return UnknownTopicId("This server does not host this topic ID.")
            if self.is_prohibited(topic):
                return InvalidTopic(f"Deletion of internal topic {topic.name} is prohibited.")
        return topic

    def is_prohibited(self, topic: Topic) -> bool:
        """The broker writes it: `offsets.topic=off` removes it."""
        return topic.name in WRITTEN_TOPICS and self._config.offsets_topic == "on"

    def delete(
        self, topics: list[Topic], by: Requester = NO_CLIENT, count: CountPartitions = uncounted
    ) -> Pending[list[Deleted]]:
        """One result per topic, in order: the deleted topic or an error.

        May raise NotInMemory (`ClusterChanges.check`).
        """
        if topics:
            self.check_newest()
        return self.stage(topics, by, count)

    def stage(
        self, topics: list[Topic], by: Requester = NO_CLIENT, count: CountPartitions = uncounted
    ) -> Pending[list[Deleted]]:
        """As `delete`, for a caller that has the right."""
        results: list[Deleted] = []
        deleted: list[Topic] = []
        for topic in topics:
            # The newest state: another request may delete it, or have added partitions.
            newest = self._topics.find(topic.name)
            if newest is None or newest.topic_id != topic.topic_id:
                unknown = UnknownTopicOrPartition("This server does not host this topic-partition.")
                results.append(unknown)
                continue
            try:
                count(len(newest.partition_ids))
            except ThrottlingQuotaExceeded as refused:
                results.append(refused.as_value())
                continue
            self._topics.delete(newest)
            deleted.append(newest)
            results.append(newest)
        self._topics.when_durable(deleted, partial(self._log, by=by))
        pending = later(respond(self._topics.keys(topic.name for topic in topics), results))
        return pending.map(self._forget)

    def _log(self, deleted: Sequence[Topic], by: Requester) -> None:
        for line in topic_lines(partition_counts(deleted)):
            self._events.info("topic_deleted", **line, **by.fields())

    def _forget(self, deleted: list[Deleted]) -> list[Deleted]:
        self._topics.forget([one for one in deleted if isinstance(one, Topic)])
        return deleted
