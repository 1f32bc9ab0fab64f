"""A deleter: moves log start offsets while logs are written, read and deleted."""

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
from tests.simulation.actors.client import Call, Client
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

OUT_OF_RANGE, UNKNOWN, POLICY, STORAGE = 1, 3, 44, 56
#: Share of the worlds without compaction that have a deleter.
PRESENCE = 0.35


class Deleter(Client):
    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.version = self.random.choice((0, 1, 2))
        self.left = self.random.choice((2, 5, 15))
        self._waiting = False

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        # Separate random numbers, so that a deleter does not change other worlds.
        there = Random(f"deletions of {world.seed}").random() < PRESENCE
        return [cls(world, "del")] if there or world.compaction.exists else []

    def send_next(self) -> None:
        if self._waiting:
            return
        if not self.left:
            self.finish()
            return
        self.left -= 1
        topic, index = self.random.choice(self._places())
        offset = self._offset(topic, index)
        self._waiting = True
        if self.world.compaction.deletes(topic):
            self.world.model.starts.requested(topic, index, offset)
        partition = DeleteRecordsPartition(partition_index=index, offset=offset)
        topics = [DeleteRecordsTopic(name=topic, partitions=[partition])]
        self.send(
            DeleteRecordsRequest(topics=topics, timeout_ms=1000),
            self.version,
            lambda call, response: self._deleted(call, response, offset),
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

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False

    def _deleted(self, call: Call, response: DeleteRecordsResponse, offset: int) -> None:
        self._waiting = False
        [topic] = response.topics
        [one] = topic.partitions
        index, code = one.partition_index, one.error_code
        starts = self.world.model.starts
        self.log(f"deletes {topic.name}-{index} up to {offset}: {code}, {one.low_watermark}")
        if code == 0:
            starts.check_low_watermark(topic.name, index, offset, one.low_watermark, *call.commits)
            if one.low_watermark > 0:
                self.world.count(Situation.RECORDS_DELETED)
        elif code == OUT_OF_RANGE:
            starts.beyond(topic.name, index, offset, call.requested)
        elif code == UNKNOWN:
            self.world.model.refused_as_unknown(topic.name, index, *call.commits)
        elif code == POLICY and not self.world.compaction.deletes(topic.name):
            self.log("must not delete records")
        elif code != STORAGE:
            raise Violation(f"DeleteRecords failed with {code}")
        self.later(self.random.choice((1, 30, 100, 200)))
