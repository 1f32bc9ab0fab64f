"""Metadata: which topics there are; a topic may be created on its first use."""

from __future__ import annotations

from typing import NamedTuple

from application.ports.pending import Pending, later
from application.ports.request_log import NO_CLIENT, Requester
from application.state.catalog import Catalog
from application.topics.create import MAX_PARTITIONS_PER_REQUEST, Created, CreateTopicsService
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, InvalidTopic, UnknownTopicId, UnknownTopicOrPartition
from domain.topics.topic import INTERNAL_TOPICS, NO_TOPIC_ID, Topic, check_topic_name


class UnknownTopic(NamedTuple):
    """A topic that was asked for and does not exist, and why."""

    name: str | None
    topic_id: bytes
    error: BrokerError


Described = Topic | UnknownTopic


class MetadataService:
    def __init__(self, catalog: Catalog, create: CreateTopicsService, config: BrokerConfig) -> None:
        self._catalog = catalog
        self._create = create
        self._config = config

    def all_topics(self) -> list[Topic]:
        return list(self._catalog)

    def topics(
        self, names: list[str], may_create: bool, by: Requester = NO_CLIENT
    ) -> list[Described] | Pending[list[Described]]:
        """Each name once, in order; waits for those that are created on the way."""
        found = {name: self._find(name) for name in names}
        missing = [
            name
            for name, one in found.items()
            if isinstance(one, UnknownTopic) and name not in INTERNAL_TOPICS
        ]
        if not missing or not may_create or not self._may_create(len(missing)):
            return list(found.values())

        def with_created(created: list[Created]) -> list[Described]:
            for name, one in zip(missing, created, strict=True):
                found[name] = (
                    one if isinstance(one, Topic) else UnknownTopic(name, NO_TOPIC_ID, one)
                )
            return list(found.values())

        return later(self._create.create_automatically(missing, by)).map(with_created)

    def _find(self, name: str) -> Described:
        return self._catalog.topic(name) or UnknownTopic(
            name, NO_TOPIC_ID, unknown_topic_error(name)
        )

    def _may_create(self, count: int) -> bool:
        """As Kafka's controller, which takes no such request either: too many are not made."""
        partitions = count * self._config.num_partitions
        return self._config.auto_create_topics_enable and partitions <= MAX_PARTITIONS_PER_REQUEST

    def topic_by_id(self, topic_id: bytes) -> Described:
        topic = self._catalog.topic_by_id(topic_id)
        if topic is None:
            return UnknownTopic(None, topic_id, UnknownTopicId("There is no topic with that id"))
        return topic


def unknown_topic_error(name: str) -> BrokerError:
    """A name that no topic has may be one that none can have."""
    try:
        check_topic_name(name)
    except InvalidTopic as illegal:
        return illegal.as_value()
    return UnknownTopicOrPartition(f"There is no topic {name}")
