"""Which topics must exist, may exist, and must not exist."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.topics.topic import INTERNAL_TOPICS
from tests.crash.ledger import NO_LIMIT, Broken, PartitionLedger

NO_ID = bytes(16)


@dataclass(eq=False)
class Topic:
    name: str
    partitions: int
    topic_id: bytes = NO_ID
    #: Its creation was acknowledged, or it was found after a restart.
    sure: bool = False
    #: Topics of the same request: all of them exist, or none.
    created_with: list[Topic] = field(default_factory=list)
    #: A requested partition count without a response yet.
    extending_to: int | None = None
    #: Its deletion was requested and has no response yet.
    deleting: bool = False
    retention_bytes: int = NO_LIMIT
    ledgers: dict[int, PartitionLedger] = field(default_factory=dict)

    def ledger(self, index: int) -> PartitionLedger:
        found = self.ledgers.get(index)
        if found is None:
            found = self.ledgers[index] = PartitionLedger(
                f"{self.name}-{index}", self.retention_bytes
            )
        return found


class Topics:
    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.gone: set[bytes] = set()
        #: The topic of most producers; it is not deleted meanwhile.
        self.main = Topic("none", 0)
        self.producer_ids: set[int] = set()

    def others(self) -> list[Topic]:
        return [one for one in self.by_name.values() if one is not self.main and one.sure]

    def add(self, topic: Topic) -> Topic:
        self.by_name[topic.name] = topic
        return topic

    def created(self, topic: Topic, topic_id: bytes) -> None:
        if topic_id in self.gone:
            raise Broken(f"{topic.name}: the id of a topic that was deleted")
        topic.sure, topic.topic_id = True, topic_id

    def deleted(self, topic: Topic) -> None:
        del self.by_name[topic.name]
        if topic.topic_id != NO_ID:
            self.gone.add(topic.topic_id)

    def add_producer_id(self, producer_id: int) -> None:
        if producer_id in self.producer_ids:
            raise Broken(f"producer id {producer_id} is assigned twice")
        self.producer_ids.add(producer_id)

    def check(self, found: dict[str, tuple[bytes, int]]) -> None:
        """After a restart: what was uncertain is now known."""
        for name in found.keys() - self.by_name.keys() - INTERNAL_TOPICS:
            raise Broken(f"{name}: not created, or deleted")
        for topic in list(self.by_name.values()):
            if not topic.sure and len({one.name in found for one in topic.created_with}) > 1:
                raise Broken(f"{topic.name}: its request is persisted in parts")
            if topic.name in found:
                self._check(topic, *found[topic.name])
            elif topic.sure and not topic.deleting:
                raise Broken(f"{topic.name} is lost")
            else:
                self.deleted(topic)

    def _check(self, topic: Topic, topic_id: bytes, partitions: int) -> None:
        if topic_id in self.gone:
            raise Broken(f"{topic.name} is deleted, and exists")
        if topic.sure and topic.topic_id not in (topic_id, NO_ID):
            raise Broken(f"{topic.name} has another id")
        if partitions not in (topic.partitions, topic.extending_to):
            raise Broken(f"{topic.name} has {partitions} partitions, not {topic.partitions}")
        topic.sure, topic.topic_id, topic.partitions = True, topic_id, partitions
        topic.extending_to, topic.deleting = None, False
