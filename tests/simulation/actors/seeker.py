"""A seeker: asks for topics that may not be there, so that they come to be, and checks names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.simulation.actors.client import Asked, Client
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

STORAGE, EXISTS = 56, 36
#: Whether it could be made is asked, and no more.
NEVER_MADE = "never-made"


class Seeker(Client):
    makes_topics = True

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.left = self.random.choice((2, 6, 12))
        self._asking = False

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        """More than one, so that they ask for the same topic at once."""
        count = 2 if world.creates else world.random.choice((0, 0, 1))
        return [cls(world, f"k{number}") for number in range(count)]

    def go_on(self) -> None:
        if self._asking:
            return
        if not self.left:
            self.finish()
            return
        self.left -= 1
        self._asking = True
        if not self.world.creates or self.random.random() < 0.5:
            self._check_a_name()
        else:
            wanted = [MetadataRequestTopic(name=self.world.made_by_asking)]
            self.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=True), 12, self._told)

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False
        self.left += len(asked)

    def _again(self) -> None:
        self._asking = False
        self.later(self.random.choice((1, 20, 80)))

    def _told(self, asked: Asked, answer: Any) -> None:
        (topic,) = answer.topics
        model = self.world.model
        if topic.error_code == 0:
            count = len(topic.partitions)
            model.described(topic.name, topic.topic_id, count, asked.asked, asked.told)
            if True not in model.was_there(topic.name, asked.asked, asked.asked):
                self.world.tell(Story.MADE_BY_ASKING)
        elif topic.error_code in (STORAGE, EXISTS):
            self.left += 1
        else:
            raise Violation(f"{topic.name} was not made: error {topic.error_code}")
        self._again()

    def _check_a_name(self) -> None:
        name = self.random.choice([*self.world.topic_names, NEVER_MADE])
        wanted = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        self.ask(
            CreateTopicsRequest(topics=[wanted], validate_only=True),
            7,
            self._checked,
            lambda: self._arriving(name),
        )

    def _arriving(self, name: str) -> None:
        process = self.world.process
        if process is not None and name in process.broker.create_topics._topics.runtime:
            self.world.tell(Story.CHECKED_WHILE_MADE)

    def _checked(self, asked: Asked, answer: Any) -> None:
        (topic,) = answer.topics
        if NEVER_MADE in self.world.model.incarnations:
            raise Violation("a topic was made that nobody wanted")
        there = {0: False, EXISTS: True}.get(topic.error_code)
        if there is not None:
            if there not in self.world.model.was_there(topic.name, asked.asked, asked.told):
                raise Violation(f"{topic.name} is said to be {'' if there else 'not '}there")
        elif topic.error_code != STORAGE:
            raise Violation(f"{topic.name} was checked with error {topic.error_code}")
        self._again()
