"""DeleteTopics: the name is gone with the commit; the data goes afterwards, in slices."""

from __future__ import annotations

from functools import partial

from application.groups.offset_cleanup import OffsetCleanup
from application.ports.event_log import EventLog
from application.ports.pending import Pending, later
from application.ports.request_log import NO_CLIENT, Requester
from application.state.catalog import Catalog
from application.state.runtime import if_durable, respond
from application.topics.state import TopicState
from domain.configs.broker import BrokerConfig
from domain.errors import (
    BrokerError,
    InvalidTopic,
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
        topics: TopicState,
        offset_cleanup: OffsetCleanup,
        config: BrokerConfig,
        events: EventLog,
    ) -> None:
        self._catalog = catalog
        self._topics = topics
        self._offset_cleanup = offset_cleanup
        self._config = config
        self._events = events

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

    def delete(self, topics: list[Topic], by: Requester = NO_CLIENT) -> Pending[list[Deleted]]:
        """One response each, in order: the topic that is deleted, or why it is not."""
        results: list[Deleted] = []
        for topic in topics:
            # As it is by now: another request may be deleting it, or have given it partitions.
            newest = self._topics.find(topic.name)
            if newest is not None and newest.topic_id == topic.topic_id:
                self._topics.delete(newest, if_durable(partial(self._log, newest, by)))
                results.append(newest)
            else:
                gone = UnknownTopicOrPartition("This server does not host this topic-partition.")
                results.append(gone)
        pending = later(respond(self._topics.keys(topic.name for topic in topics), results))
        return pending.map(self._forget)

    def _log(self, topic: Topic, by: Requester) -> None:
        self._events.info("topic_deleted", topic=topic.name, **by.fields())

    def _forget(self, deleted: list[Deleted]) -> list[Deleted]:
        self._offset_cleanup.forget([one for one in deleted if isinstance(one, Topic)])
        return deleted
