"""A committer: keeps offsets in a group without members, reads them back, and takes them away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from interfaces.kafka.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.simulation.actors.client import Asked, Client
from tests.simulation.actors.member import LATER, NO_GROUP, UNKNOWN_TOPIC, judge_offsets
from tests.simulation.committed import Key
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

NOT_EMPTY, SUBSCRIBED = 68, 86


class Committer(Client):
    def __init__(self, world: World, name: str, group_id: str) -> None:
        super().__init__(world, name)
        self.group_id = group_id
        self.left = self.random.choice((4, 10, 25))
        #: How many commits may be on their way at once.
        self._pipeline = self.random.choice((1, 1, 3))
        #: Of all committers but the first one: they would take away what others have just kept.
        self._deletes = self.random.choice((0.0, 0.1, 0.2))

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        if not world.has_groups:
            return []
        count = world.group_random.choice((1, 2, 3))
        ids = [world.group_random.choice(("simple", "plain")) for _ in range(count)]
        return [cls(world, f"o{number}", group_id) for number, group_id in enumerate(ids)]

    def go_on(self) -> None:
        while self.line is not None and self.in_flight < self._pipeline:
            if not self.left:
                if not self.in_flight:
                    self.finish()
                return
            self.left -= 1
            dice = self.random.random()
            if dice < self._deletes:
                self._take_away()
            elif dice < 0.4:
                self._read()
            else:
                self._commit()

    def lost(self, asked: list[Asked]) -> None:
        self.left += len(asked)

    def _later(self) -> None:
        self.later(self.random.choice((0, 1, 20, 60)))

    # ---- keeping

    def _topics(self) -> list[tuple[str, int]]:
        live = [(one.name, i) for one in self.world.model.live() for i in range(len(one.since))]
        return live or [(name, 0) for name in self.world.topic_names]

    def _commit(self) -> None:
        topic, index = self.random.choice(self._topics())
        key = self.group_id, topic, index
        offset, metadata = self.world.model.committed.attempt(key)
        partition = OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=offset,
            committed_metadata=metadata,
        )
        wanted = OffsetCommitRequestTopic(name=topic, partitions=[partition])
        version = self.random.choice((2, 6, 8, 9))
        self.ask(
            OffsetCommitRequest(group_id=self.group_id, topics=[wanted]),
            version,
            lambda asked, answer: self._committed(asked, answer, key, offset),
        )

    def _committed(self, asked: Asked, answer: Any, key: Key, offset: int) -> None:
        code = answer.topics[0].partitions[0].error_code
        if code == 0:
            self.world.model.committed.acked(key, offset, asked.told)
            self.world.tell(Story.OFFSET_KEPT)
        elif code == UNKNOWN_TOPIC:
            self.world.model.refused_as_unknown(key[1], key[2], asked.asked, asked.told)
        elif code in LATER:
            self.world.tell(Story.OFFSET_REFUSED)
            self.left += 1
        else:
            raise Violation(f"{self.name}: OffsetCommit was answered with {code}")
        self._later()

    # ---- reading

    def _read(self) -> None:
        group = OffsetFetchRequestGroup(group_id=self.group_id, topics=None)
        self.ask(OffsetFetchRequest(groups=[group]), 8, self._told)

    def _told(self, asked: Asked, answer: Any) -> None:
        judge_offsets(self, asked, answer)
        judge_all_offsets(self, asked, answer)
        self._later()

    # ---- taking away

    def _take_away(self) -> None:
        committed = self.world.model.committed
        if self.random.random() < 0.5:
            committed.unwanted(self.group_id)
            self.ask(DeleteGroupsRequest(groups_names=[self.group_id]), 2, self._deleted)
            return
        topic, index = self.random.choice(self._topics())
        committed.unwanted((self.group_id, topic, index))
        partition = OffsetDeleteRequestPartition(partition_index=index)
        wanted = OffsetDeleteRequestTopic(name=topic, partitions=[partition])
        request = OffsetDeleteRequest(group_id=self.group_id, topics=[wanted])
        self.ask(request, 0, self._removed)

    def _deleted(self, asked: Asked, answer: Any) -> None:
        code = answer.results[0].error_code
        if code == 0:
            self.world.model.committed.deleted(self.group_id, asked.asked, asked.told)
            self.world.tell(Story.GROUP_DELETED)
        elif code not in (*LATER, NO_GROUP):
            raise Violation(f"{self.name}: DeleteGroups was answered with {code}")
        self._later()

    def _removed(self, asked: Asked, answer: Any) -> None:
        if answer.error_code not in (0, NO_GROUP, *LATER):
            raise Violation(f"{self.name}: OffsetDelete was answered with {answer.error_code}")
        for topic in answer.topics:
            for one in topic.partitions:
                key = self.group_id, topic.name, one.partition_index
                if one.error_code == 0:
                    self.world.model.committed.removed(key, asked.asked, asked.told)
                elif one.error_code == UNKNOWN_TOPIC:
                    self.world.model.refused_as_unknown(key[1], key[2], asked.asked, asked.told)
        self._later()


def judge_all_offsets(who: Client, asked: Asked, answer: Any) -> None:
    """Somebody asked for all there is: what is not told has to be nothing."""
    committed = who.world.model.committed
    for group in answer.groups:
        if group.error_code:
            continue
        told = {(t.name, one.partition_index) for t in group.topics for one in t.partitions}
        for key in committed.keys(group.group_id):
            if key[1:] not in told:
                committed.told(key, -1, "", asked.asked, asked.told)


class OffsetAuditor(Client):
    """After the last restart: everything that was committed is there."""

    def __init__(self, world: World, group_ids: list[str]) -> None:
        super().__init__(world, "books")
        self._group_ids = group_ids
        self._asking = False

    def go_on(self) -> None:
        if not self._asking:
            self._asking = True
            groups = [OffsetFetchRequestGroup(group_id=one, topics=None) for one in self._group_ids]
            self.ask(OffsetFetchRequest(groups=groups), 8, self._told)

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False

    def _told(self, asked: Asked, answer: Any) -> None:
        self._asking = False
        if any(one.error_code in LATER for one in answer.groups):
            self.later(20)
            return
        judge_offsets(self, asked, answer)
        judge_all_offsets(self, asked, answer)
        self.finished = True
