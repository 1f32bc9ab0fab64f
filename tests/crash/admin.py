"""Creates, extends and deletes topics, one request at a time, and requests producer ids."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

from interfaces.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from interfaces.kafka.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from interfaces.kafka.wire.schema import Request
from tests.crash.fleet import Client
from tests.crash.ledger import Broken
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import INIT_PRODUCER_ID, Reader, string

STORAGE_ERROR = 56
MOST_TOPICS = 4
MOST_PARTITIONS = 6
#: The tagged fields after the correlation id of a flexible response.
TAGS = 5

Heard = Callable[[Reader], None]


class Admin(Client):
    def __init__(self, chance: random.Random, topics: Topics) -> None:
        super().__init__("admin")
        self.chance, self.topics = chance, topics
        self.made = 0
        self.names_gone: list[str] = []

    def go_on(self) -> None:
        if not self.unanswered:
            self._draw()

    def answered(self, context: Heard, answer: Reader) -> None:
        context(answer)

    def _draw(self) -> None:
        others = self.topics.others()
        growing = [one for one in others if one.partitions < MOST_PARTITIONS]
        drawn = self.chance.random()
        if drawn < 0.2:
            self._ask_for_producer_id()
        elif len(others) < 2 or (drawn < 0.5 and len(others) < MOST_TOPICS):
            self._create()
        elif drawn < 0.75 and growing:
            self._grow(self.chance.choice(growing))
        else:
            self._delete(self.chance.choice(others))

    def _send(self, request: Request, version: int, heard: Heard) -> None:
        body = b"\0" + b"".join(request.encode(version))
        self.asks(request.api_key, version, body, heard)

    def _ask_for_producer_id(self) -> None:
        def heard(answer: Reader) -> None:
            _throttle, error, producer_id, _epoch = answer.take("ihqh")
            if self._done(error, "InitProducerId"):
                self.topics.gives(producer_id)

        self.asks(INIT_PRODUCER_ID, 0, string(None) + struct.pack(">i", 60_000), heard)

    def _create(self) -> None:
        """One topic, or two in one request."""
        names = [self._new_name() for _ in range(self.chance.randint(1, 2))]
        topics = [self.topics.makes(Topic(name, self.chance.randint(1, 3))) for name in names]
        for topic in topics:
            topic.made_with = topics

        def heard(answer: Reader) -> None:
            told = CreateTopicsResponse.decode(7, answer.data, TAGS)[0].topics
            for topic, one in zip(topics, told, strict=True):
                if self._done(one.error_code, f"CreateTopics {topic.name}"):
                    self.topics.made(topic, one.topic_id)
                else:
                    del self.topics.by_name[topic.name]

        wanted = [
            CreatableTopic(name=one.name, num_partitions=one.partitions, replication_factor=1)
            for one in topics
        ]
        self._send(CreateTopicsRequest(topics=wanted), 7, heard)

    def _new_name(self) -> str:
        """Sometimes a name that was used before."""
        if self.names_gone and self.chance.random() < 0.3:
            return self.names_gone.pop()
        self.made += 1
        return f"other-{self.made}"

    def _grow(self, topic: Topic) -> None:
        topic.growing = topic.partitions + self.chance.randint(1, 2)

        def heard(answer: Reader) -> None:
            told = _first(CreatePartitionsResponse.decode(3, answer.data, TAGS)[0].results)
            if self._done(told.error_code, f"CreatePartitions {topic.name}"):
                topic.partitions = topic.growing or 0
            topic.growing = None

        wanted = CreatePartitionsTopic(name=topic.name, count=topic.growing, assignments=None)
        self._send(CreatePartitionsRequest(topics=[wanted], timeout_ms=30_000), 3, heard)

    def _delete(self, topic: Topic) -> None:
        topic.going = True

        def heard(answer: Reader) -> None:
            told = _first(DeleteTopicsResponse.decode(6, answer.data, TAGS)[0].responses)
            if self._done(told.error_code, f"DeleteTopics {topic.name}"):
                self.topics.deleted(topic)
                self.names_gone.append(topic.name)
            else:
                topic.going = False

        by_name = self.chance.random() < 0.5
        state = DeleteTopicState(
            name=topic.name if by_name else None, topic_id=bytes(16) if by_name else topic.topic_id
        )
        self._send(DeleteTopicsRequest(topics=[state], timeout_ms=30_000), 6, heard)

    def _done(self, error: int, what: str) -> bool:
        if error == STORAGE_ERROR and self.storage_may_fail:
            return False
        if error:
            raise Broken(f"{what} is refused: error {error}")
        return True


def _first(answers: Any) -> Any:
    (one,) = answers
    return one
