"""A searcher: searches by timestamp while the log grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.simulation.actors.client import Call, Client
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

UNKNOWN, STORAGE = 3, 56
NOTHING = -1

#: Timestamps by topic and partition.
Timestamps = dict[tuple[str, int], int]


class Searcher(Client):
    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.version = self.random.choice((1, 4, 6, 7, 11))
        self.left = self.random.choice((5, 20))
        #: True if it has searched after the last failure.
        self._is_calm = False
        self._waiting = False

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        count = 2 if world.crowded else world.random.choice((0, 0, 1))
        if world.compaction.exists:
            count = max(count, 1)
        return [cls(world, f"s{number}") for number in range(count)]

    def send_next(self) -> None:
        if self._waiting:
            return
        if not self.left:
            if self._is_calm:
                self.finish()
                return
            if self.world.has_faults:
                self.later(100)
                return
            self._is_calm = True
            self.left = 3
        self.left -= 1
        timestamps: Timestamps = {}
        for name in self.world.topic_names:
            for index in range(self.random.choice((1, 2))):
                timestamps[name, index] = self._timestamp(name, index)
        topics = [
            ListOffsetsTopic(
                name=name,
                partitions=[ListOffsetsPartition(partition_index=index, timestamp=at)],
            )
            for (name, index), at in timestamps.items()
        ]
        self._waiting = True
        self.send(
            ListOffsetsRequest(replica_id=-1, topics=topics),
            self.version,
            lambda call, response: self._found(call, response, timestamps),
            self._arriving,
        )

    def _arriving(self) -> None:
        self.world.timeline.after(0, self._look)

    def _look(self) -> None:
        process = self.world.process
        if process is not None and len(process.broker.background):
            self.world.count(Situation.LONG_SEARCH)

    def _timestamp(self, topic: str, index: int) -> int:
        known = self.world.model.times_known(topic, index)
        if known and self.random.random() < 0.8:
            return self.random.choice(known) + self.random.choice((0, 0, 1, -3))
        return self.world.timeline.now_ms() + self.random.choice((-500, 0, 60_000))

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False

    def _found(self, call: Call, response: ListOffsetsResponse, timestamps: Timestamps) -> None:
        self._waiting = False
        model = self.world.model
        for topic in response.topics:
            (one,) = topic.partitions
            index = one.partition_index
            if one.error_code == UNKNOWN:
                model.refused_as_unknown(topic.name, index, *call.commits)
            elif one.error_code == STORAGE:
                self.check_unreadable(topic.name, index, call)
            elif one.error_code:
                raise Violation(f"{self.name}: ListOffsets failed with {one.error_code}")
            else:
                found = None if one.offset == NOTHING else (one.offset, one.timestamp)
                at = timestamps[topic.name, index]
                model.found_by_time(topic.name, index, at, found, *call.commits)
                if found is not None:
                    self.world.count(Situation.FOUND_BY_TIME)
        self.later(self.random.choice((1, 10, 60)))
