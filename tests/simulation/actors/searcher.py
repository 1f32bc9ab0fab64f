"""A searcher: asks where moments lie in the log, while the log grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.simulation.actors.client import Asked, Client
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

UNKNOWN, STORAGE = 3, 56
NOTHING = -1

#: Topic and partition, and the moment that is looked for.
Wanted = dict[tuple[str, int], int]


class Searcher(Client):
    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.version = self.random.choice((1, 4, 6, 7, 11))
        self.left = self.random.choice((5, 20))
        #: After the last mishap it looks once more.
        self._is_calm = False
        self._asking = False

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        count = 2 if world.crowded else world.random.choice((0, 0, 1))
        return [cls(world, f"s{number}") for number in range(count)]

    def go_on(self) -> None:
        if self._asking:
            return
        if not self.left:
            if self._is_calm:
                self.finish()
                return
            if self.world.turmoil:
                self.later(100)
                return
            self._is_calm = True
            self.left = 3
        self.left -= 1
        wanted: Wanted = {}
        for name in self.world.topic_names:
            for index in range(self.random.choice((1, 2))):
                wanted[name, index] = self._moment(name, index)
        topics = [
            ListOffsetsTopic(
                name=name,
                partitions=[ListOffsetsPartition(partition_index=index, timestamp=at)],
            )
            for (name, index), at in wanted.items()
        ]
        self._asking = True
        self.ask(
            ListOffsetsRequest(replica_id=-1, topics=topics),
            self.version,
            lambda asked, answer: self._found(asked, answer, wanted),
            self._arriving,
        )

    def _arriving(self) -> None:
        self.world.timeline.after(0, self._look)

    def _look(self) -> None:
        process = self.world.process
        if process is not None and len(process.broker.background):
            self.world.tell(Story.LONG_SEARCH)

    def _moment(self, topic: str, index: int) -> int:
        known = self.world.model.times_known(topic, index)
        if known and self.random.random() < 0.8:
            return self.random.choice(known) + self.random.choice((0, 0, 1, -3))
        return self.world.timeline.now_ms() + self.random.choice((-500, 0, 60_000))

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False

    def _found(self, asked: Asked, answer: ListOffsetsResponse, wanted: Wanted) -> None:
        self._asking = False
        model = self.world.model
        for topic in answer.topics:
            (one,) = topic.partitions
            index = one.partition_index
            if one.error_code == UNKNOWN:
                model.refused_as_unknown(topic.name, index, asked.asked, asked.told)
            elif one.error_code == STORAGE:
                self.could_not_be_read(topic.name, index, asked)
            elif one.error_code:
                raise Violation(f"{self.name}: ListOffsets was answered with {one.error_code}")
            else:
                found = None if one.offset == NOTHING else (one.offset, one.timestamp)
                at = wanted[topic.name, index]
                model.found_by_time(topic.name, index, at, found, asked.asked, asked.told)
                if found is not None:
                    self.world.tell(Story.FOUND_BY_TIME)
        self.later(self.random.choice((1, 10, 60)))
