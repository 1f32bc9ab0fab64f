"""An admin: creates topics, makes them grow, deletes them, and tries again what got no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from tests.simulation.actors.client import Asked, Client
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

#: A change is under way already: the one whose answer was lost.
BEING_CHANGED = 42
STORAGE, UNKNOWN, EXISTS, NOT_MORE = 56, 3, 36, 37


class Admin(Client):
    makes_topics = True

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        return [cls(world, "admin")]

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        random = self.random
        self._to_do: list[tuple[str, str, int]] = [
            ("create", topic, random.choice((1, 1, 2, 3)))
            for topic in world.topic_names
            if topic != world.made_by_asking
        ]
        for _ in range(random.choice((0, 0, 1, 2, 4))):
            topic = random.choice(world.topic_names)
            if random.random() < 0.5:
                self._to_do.append(("grow", topic, random.choice((2, 3, 4))))
            else:
                self._to_do.append(("delete", topic, 0))
                if random.random() < 0.8:
                    self._to_do.append(("create", topic, random.choice((1, 2))))
        self._waits = False

    def go_on(self) -> None:
        if self._waits:
            return
        if not self._to_do:
            self.finish()
            return
        what, topic, count = self._to_do[0]
        self._waits = True
        if self.random.random() < 0.2:
            self.ask(MetadataRequest(topics=None), 12, self._all)
        elif what == "create":
            wanted = CreatableTopic(
                name=topic, num_partitions=count, replication_factor=1, configs=self._configs()
            )
            self.ask(CreateTopicsRequest(topics=[wanted]), 7, self._created)
        elif what == "delete":
            self.ask(DeleteTopicsRequest(topic_names=[topic]), 5, self._deleted)
        else:
            more = CreatePartitionsTopic(name=topic, count=count, assignments=None)
            self.ask(CreatePartitionsRequest(topics=[more]), 3, self._grown)

    def _configs(self) -> list[CreatableTopicConfig]:
        if self.random.random() < 0.8:
            return []
        return [CreatableTopicConfig(name="message.timestamp.type", value="LogAppendTime")]

    def lost(self, asked: list[Asked]) -> None:
        self._waits = False

    def _all(self, asked: Asked, answer: Any) -> None:
        self._waits = False
        self.world.known_topics(asked, answer)
        self.go_on()

    def _created(self, asked: Asked, answer: Any) -> None:
        self._judge(answer.topics[0].error_code, EXISTS, True, asked)

    def _deleted(self, asked: Asked, answer: Any) -> None:
        code = answer.responses[0].error_code
        if code == 0 and self.world.has_load(self._to_do[0][1]):
            self.world.tell(Story.DELETED_UNDER_LOAD)
        self._judge(code, UNKNOWN, False, asked)

    def _grown(self, asked: Asked, answer: Any) -> None:
        code = answer.results[0].error_code
        if code == 0 and self.world.has_load(self._to_do[0][1]):
            self.world.tell(Story.GROWN)
        if code == 0:
            _, topic, count = self._to_do[0]
            self.world.model.grown(topic, count, asked.asked, asked.told)
        if code == UNKNOWN:
            code = NOT_MORE
        self._judge(code, NOT_MORE, None, asked)

    def _judge(self, code: int, already: int, there: bool | None, asked: Asked) -> None:
        """`already`: the answer where an earlier try did it, or where there is nothing to do."""
        self._waits = False
        what, topic, _ = self._to_do[0]
        self.say(f"{what} {topic}: {code}")
        if code in (0, already):
            was_so = self.world.model.was_there(topic, asked.asked, asked.told)
            if there is not None and there not in was_so:
                raise Violation(f"{what} {topic} was answered with {code}, and it is not so")
            del self._to_do[0]
            self.later(self.random.choice((1, 20, 80, 200)))
        elif code in (STORAGE, BEING_CHANGED):
            self.later(20)
        else:
            raise Violation(f"{what} {topic} was answered with {code}")
