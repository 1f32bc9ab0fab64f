"""Metadata: which topics there are, and topics that come to be because somebody asked for them."""

from __future__ import annotations

from application.ports.pending import Pending
from application.state.catalog import Catalog
from application.topics.create import MAX_PARTITIONS_PER_REQUEST, CreateTopicsService
from domain.configs.broker import BrokerConfig
from domain.errors import BrokerError, InvalidTopic, UnknownTopicId, UnknownTopicOrPartition
from domain.topics.topic import INTERNAL_TOPICS, NO_TOPIC_ID, Topic, check_topic_name


class UnknownTopic:
    """A topic that was asked for and is not to be had, and why."""

    __slots__ = ("error", "name", "topic_id")

    def __init__(self, name: str | None, topic_id: bytes, error: BrokerError) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error = error


Described = Topic | UnknownTopic


class MetadataService:
    def __init__(self, catalog: Catalog, create: CreateTopicsService, config: BrokerConfig) -> None:
        self._catalog = catalog
        self._create = create
        self._config = config

    def all_topics(self) -> list[Topic]:
        return list(self._catalog)

    def topics(
        self, names: list[str], may_create: bool
    ) -> list[Described] | Pending[list[Described]]:
        """One answer a name, in order; waits for those that are created on the way."""
        names = list(dict.fromkeys(names))
        found: list[Described] = []
        missing: list[int] = []
        for name in names:
            topic = self._catalog.topic(name)
            if topic is None:
                if name not in INTERNAL_TOPICS:
                    missing.append(len(found))
                found.append(UnknownTopic(name, NO_TOPIC_ID, why_unknown(name)))
            else:
                found.append(topic)
        if not missing or not may_create or not self._may_create(len(missing)):
            return found
        return _Creating(found, missing, names, self._create)

    def _may_create(self, count: int) -> bool:
        """As Kafka's controller, which takes no such request either: too many are not made."""
        partitions = count * self._config.num_partitions
        return self._config.auto_create_topics_enable and partitions <= MAX_PARTITIONS_PER_REQUEST

    def topic_by_id(self, topic_id: bytes) -> Described:
        topic = self._catalog.topic_by_id(topic_id)
        if topic is None:
            return UnknownTopic(None, topic_id, UnknownTopicId("There is no topic with that id"))
        return topic


def why_unknown(name: str) -> BrokerError:
    """A name that no topic has may be one that none can have."""
    try:
        check_topic_name(name)
    except InvalidTopic as illegal:
        return illegal.as_value()
    return UnknownTopicOrPartition(f"There is no topic {name}")


class _Creating(Pending[list[Described]]):
    """Puts each created topic, or the reason why not, where the answer has its place."""

    __slots__ = ("_found", "_left")

    def __init__(
        self,
        found: list[Described],
        missing: list[int],
        names: list[str],
        create: CreateTopicsService,
    ) -> None:
        super().__init__()
        self._found = found
        self._left = len(missing)
        for at in missing:
            self._create(at, names[at], create)

    def _create(self, at: int, name: str, create: CreateTopicsService) -> None:
        def created(topic: Topic | BrokerError) -> None:
            if isinstance(topic, Topic):
                self._found[at] = topic
            else:
                unknown = self._found[at]
                assert isinstance(unknown, UnknownTopic)
                unknown.error = topic
            self._left -= 1
            if not self._left:
                self.resolve(self._found)

        create.create_automatically(name).then(created)
