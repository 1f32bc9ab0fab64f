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
    CreatableTopicConfig,
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
from tests.crash.ledger import NO_LIMIT, Broken
from tests.crash.topics import Topic, Topics
from tests.e2e.raw_client import INIT_PRODUCER_ID, Reader, string

STORAGE_ERROR = 56
#: Of InitProducerId whose commit has failed.
LOADING = 14
MOST_TOPICS = 4
MOST_PARTITIONS = 6
#: The tagged fields after the correlation id of a flexible response.
TAGS = 5

OnResponse = Callable[[Reader], None]


class Admin(Client):
    def __init__(self, chance: random.Random, topics: Topics) -> None:
        super().__init__("admin")
        self.chance, self.topics = chance, topics
        self.made = 0
        self.names_gone: list[str] = []

    def send_next(self) -> None:
        if not self.pending:
            self._draw()

    def on_response(self, context: OnResponse, response: Reader) -> None:
        context(response)

    def _draw(self) -> None:
        others = self.topics.others()
        extensible = [one for one in others if one.partitions < MOST_PARTITIONS]
        drawn = self.chance.random()
        if drawn < 0.2:
            self._request_producer_id()
        elif len(others) < 2 or (drawn < 0.5 and len(others) < MOST_TOPICS):
            self._create()
        elif drawn < 0.75 and extensible:
            self._grow(self.chance.choice(extensible))
        else:
            self._delete(self.chance.choice(others))

    def _send(self, request: Request, version: int, on_response: OnResponse) -> None:
        body = b"\0" + b"".join(request.encode(version))
        self.send_request(request.api_key, version, body, on_response)

    def _request_producer_id(self) -> None:
        def on_response(response: Reader) -> None:
            _throttle, error, producer_id, _epoch = response.take("ihqh")
            if self._done(error, "InitProducerId", LOADING):
                self.topics.add_producer_id(producer_id)

        self.send_request(
            INIT_PRODUCER_ID, 0, string(None) + struct.pack(">i", 60_000), on_response
        )

    def _create(self) -> None:
        """One topic, or two in one request."""
        names = [self._new_name() for _ in range(self.chance.randint(1, 2))]
        topics = [self.topics.add(Topic(name, self.chance.randint(1, 3))) for name in names]
        for topic in topics:
            topic.created_with = topics
            topic.retention_bytes = self.chance.choice((NO_LIMIT, 0, 3000))

        def on_response(response: Reader) -> None:
            results = CreateTopicsResponse.decode(7, response.data, TAGS)[0].topics
            for topic, one in zip(topics, results, strict=True):
                if self._done(one.error_code, f"CreateTopics {topic.name}"):
                    self.topics.created(topic, one.topic_id)
                else:
                    del self.topics.by_name[topic.name]

        new = [
            CreatableTopic(
                name=one.name,
                num_partitions=one.partitions,
                replication_factor=1,
                configs=[
                    CreatableTopicConfig(name="retention.bytes", value=str(one.retention_bytes))
                ],
            )
            for one in topics
        ]
        self._send(CreateTopicsRequest(topics=new), 7, on_response)

    def _new_name(self) -> str:
        """Sometimes a name that was used before."""
        if self.names_gone and self.chance.random() < 0.3:
            return self.names_gone.pop()
        self.made += 1
        return f"other-{self.made}"

    def _grow(self, topic: Topic) -> None:
        topic.extending_to = topic.partitions + self.chance.randint(1, 2)

        def on_response(response: Reader) -> None:
            results = _first(CreatePartitionsResponse.decode(3, response.data, TAGS)[0].results)
            if self._done(results.error_code, f"CreatePartitions {topic.name}"):
                topic.partitions = topic.extending_to or 0
            topic.extending_to = None

        more = CreatePartitionsTopic(name=topic.name, count=topic.extending_to, assignments=None)
        self._send(CreatePartitionsRequest(topics=[more], timeout_ms=30_000), 3, on_response)

    def _delete(self, topic: Topic) -> None:
        topic.deleting = True

        def on_response(response: Reader) -> None:
            results = _first(DeleteTopicsResponse.decode(6, response.data, TAGS)[0].responses)
            if self._done(results.error_code, f"DeleteTopics {topic.name}"):
                self.topics.deleted(topic)
                self.names_gone.append(topic.name)
            else:
                topic.deleting = False

        by_name = self.chance.random() < 0.5
        state = DeleteTopicState(
            name=topic.name if by_name else None, topic_id=bytes(16) if by_name else topic.topic_id
        )
        self._send(DeleteTopicsRequest(topics=[state], timeout_ms=30_000), 6, on_response)

    def _done(self, error: int, what: str, failed: int = STORAGE_ERROR) -> bool:
        if error == failed and self.storage_may_fail:
            return False
        if error:
            raise Broken(f"{what} is refused: error {error}")
        return True


def _first(responses: Any) -> Any:
    (one,) = responses
    return one
