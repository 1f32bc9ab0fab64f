"""A deleter of records: moves the start of logs, while they are written, read and deleted."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from domain.partitions.partition import UP_TO_HIGH_WATERMARK
from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from tests.simulation.actors.client import Asked, Client
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

OUT_OF_RANGE, UNKNOWN, STORAGE = 1, 3, 56
#: In so many worlds there is one.
PRESENCE = 0.35


class Deleter(Client):
    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.version = self.random.choice((0, 1, 2))
        self.left = self.random.choice((2, 5, 15))
        self._asking = False

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        # By numbers of its own: so that worlds without one are what they were.
        there = Random(f"deletions of {world.seed}").random() < PRESENCE
        return [cls(world, "del")] if there else []

    def go_on(self) -> None:
        if self._asking:
            return
        if not self.left:
            self.finish()
            return
        self.left -= 1
        topic, index = self.random.choice(self._places())
        offset = self._offset(topic, index)
        self._asking = True
        self.world.model.starts.wanted(topic, index, offset)
        wanted = DeleteRecordsPartition(partition_index=index, offset=offset)
        topics = [DeleteRecordsTopic(name=topic, partitions=[wanted])]
        self.ask(
            DeleteRecordsRequest(topics=topics, timeout_ms=1000),
            self.version,
            lambda asked, answer: self._answered(asked, answer, offset),
        )

    def _places(self) -> list[tuple[str, int]]:
        live = [(one.name, i) for one in self.world.model.live() for i in range(len(one.since))]
        return live or [(name, 0) for name in self.world.topic_names]

    def _offset(self, topic: str, index: int) -> int:
        ids = self.world.model._candidates(topic, index)
        end = max((self.world.model.end(one, self.world.disk.commits) for one in ids), default=0)
        dice = self.random.random()
        if dice < 0.3:
            return UP_TO_HIGH_WATERMARK
        if dice < 0.4:
            return self.random.choice((-2, end + 1, end + 1000))
        return self.random.randint(0, end)

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False

    def _answered(self, asked: Asked, answer: DeleteRecordsResponse, offset: int) -> None:
        self._asking = False
        [topic] = answer.topics
        [one] = topic.partitions
        index, code = one.partition_index, one.error_code
        starts = self.world.model.starts
        self.say(f"deletes {topic.name}-{index} up to {offset}: {code}, {one.low_watermark}")
        if code == 0:
            starts.low_told(topic.name, index, offset, one.low_watermark, asked.asked, asked.told)
            if one.low_watermark > 0:
                self.world.tell(Story.RECORDS_DELETED)
        elif code == OUT_OF_RANGE:
            starts.beyond(topic.name, index, offset, asked.asked)
        elif code == UNKNOWN:
            self.world.model.refused_as_unknown(topic.name, index, asked.asked, asked.told)
        elif code != STORAGE:
            raise Violation(f"DeleteRecords was answered with {code}")
        self.later(self.random.choice((1, 30, 100, 200)))
