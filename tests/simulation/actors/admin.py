"""An admin client: creates, extends and deletes topics, and retries without a response."""

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
from tests.simulation.actors.client import Call, Client
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

#: The previous change, whose response was lost, is not durable yet.
BEING_CHANGED = 42
STORAGE, UNKNOWN, EXISTS, NOT_MORE = 56, 3, 36, 37


class Admin(Client):
    creates_topics = True

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        return [cls(world, "admin")]

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        random = self.random
        self._changes: list[tuple[str, str, int]] = [
            ("create", topic, random.choice((1, 1, 2, 3)))
            for topic in world.topic_names
            if topic != world.auto_created
        ]
        for _ in range(random.choice((0, 0, 1, 2, 4))):
            topic = random.choice(world.topic_names)
            if random.random() < 0.5:
                self._changes.append(("grow", topic, random.choice((2, 3, 4))))
            else:
                self._changes.append(("delete", topic, 0))
                if random.random() < 0.8:
                    self._changes.append(("create", topic, random.choice((1, 2))))
        self._waiting = False

    def send_next(self) -> None:
        if self._waiting:
            return
        if not self._changes:
            self.finish()
            return
        what, topic, count = self._changes[0]
        self._waiting = True
        if self.random.random() < 0.2:
            self.send(MetadataRequest(topics=None), 12, self._all)
        elif what == "create":
            new = CreatableTopic(
                name=topic,
                num_partitions=count,
                replication_factor=1,
                configs=self._configs(topic),
            )
            self.send(CreateTopicsRequest(topics=[new]), 7, self._created)
        elif what == "delete":
            self.send(DeleteTopicsRequest(topic_names=[topic]), 5, self._deleted)
        else:
            more = CreatePartitionsTopic(name=topic, count=count, assignments=None)
            self.send(CreatePartitionsRequest(topics=[more]), 3, self._grown)

    def _configs(self, topic: str) -> list[CreatableTopicConfig]:
        configs = {}
        policy = self.world.compaction.policies.get(topic)
        if policy is not None:
            configs["cleanup.policy"] = policy
        if self.random.random() >= 0.8:
            configs["message.timestamp.type"] = "LogAppendTime"
        return [CreatableTopicConfig(name=name, value=value) for name, value in configs.items()]

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False

    def _all(self, call: Call, response: Any) -> None:
        self._waiting = False
        self.world.known_topics(call, response)
        self.send_next()

    def _created(self, call: Call, response: Any) -> None:
        self._check(response.topics[0].error_code, EXISTS, True, call)

    def _deleted(self, call: Call, response: Any) -> None:
        code = response.responses[0].error_code
        if code == 0 and self.world.has_load(self._changes[0][1]):
            self.world.count(Situation.DELETED_UNDER_LOAD)
        self._check(code, UNKNOWN, False, call)

    def _grown(self, call: Call, response: Any) -> None:
        code = response.results[0].error_code
        if code == 0 and self.world.has_load(self._changes[0][1]):
            self.world.count(Situation.GROWN)
        if code == 0:
            _, topic, count = self._changes[0]
            self.world.model.grown(topic, count, *call.commits)
        if code == UNKNOWN:
            code = NOT_MORE
        self._check(code, NOT_MORE, None, call)

    def _check(self, code: int, already: int, there: bool | None, call: Call) -> None:
        """`already`: the error if an earlier attempt succeeded, or nothing is to do."""
        self._waiting = False
        what, topic, _ = self._changes[0]
        self.log(f"{what} {topic}: {code}")
        if code in (0, already):
            was_so = self.world.model.was_there(topic, *call.commits)
            if there is not None and there not in was_so:
                raise Violation(f"{what} {topic} failed with {code}, but the topic's state differs")
            del self._changes[0]
            self.later(self.random.choice((1, 20, 80, 200)))
        elif code in (STORAGE, BEING_CHANGED):
            self.later(20)
        else:
            raise Violation(f"{what} {topic} failed with {code}")
