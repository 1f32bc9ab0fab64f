"""A seeker: creates topics by Metadata, and validates topic names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.simulation.actors.client import Call, Client
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

STORAGE, EXISTS = 56, 36
#: A name that is only validated.
NEVER_CREATED = "never-made"


class Seeker(Client):
    creates_topics = True

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.left = self.random.choice((2, 6, 12))
        self._waiting = False

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        """Two, so that they request the same topic at the same time."""
        count = 2 if world.creates else world.random.choice((0, 0, 1))
        return [cls(world, f"k{number}") for number in range(count)]

    def send_next(self) -> None:
        if self._waiting:
            return
        if not self.left:
            self.finish()
            return
        self.left -= 1
        self._waiting = True
        if not self.world.creates or self.random.random() < 0.5:
            self._check_name()
        else:
            topics = [MetadataRequestTopic(name=self.world.auto_created)]
            self.send(
                MetadataRequest(topics=topics, allow_auto_topic_creation=True),
                12,
                self._metadata_response,
            )

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False
        self.left += len(calls)

    def _again(self) -> None:
        self._waiting = False
        self.later(self.random.choice((1, 20, 80)))

    def _metadata_response(self, call: Call, response: Any) -> None:
        (topic,) = response.topics
        model = self.world.model
        if topic.error_code == 0:
            count = len(topic.partitions)
            model.described(topic.name, topic.topic_id, count, *call.commits)
            if True not in model.was_there(topic.name, call.requested, call.requested):
                self.world.count(Situation.AUTO_CREATED)
        elif topic.error_code in (STORAGE, EXISTS):
            self.left += 1
        else:
            raise Violation(f"{topic.name} was not created: error {topic.error_code}")
        self._again()

    def _check_name(self) -> None:
        name = self.random.choice([*self.world.topic_names, NEVER_CREATED])
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        self.send(
            CreateTopicsRequest(topics=[topic], validate_only=True),
            7,
            self._checked,
            lambda: self._arriving(name),
        )

    def _arriving(self, name: str) -> None:
        process = self.world.process
        if process is not None and name in process.broker.topics.create_topics._topics.runtime:
            self.world.count(Situation.CHECKED_WHILE_CREATED)

    def _checked(self, call: Call, response: Any) -> None:
        (topic,) = response.topics
        if NEVER_CREATED in self.world.model.incarnations:
            raise Violation("a validated topic was created")
        there = {0: False, EXISTS: True}.get(topic.error_code)
        if there is not None:
            if there not in self.world.model.was_there(topic.name, *call.commits):
                raise Violation(f"{topic.name} is reported as {'known' if there else 'unknown'}")
        elif topic.error_code != STORAGE:
            raise Violation(f"{topic.name} was validated with error {topic.error_code}")
        self._again()
