"""A committer: commits, fetches and deletes offsets of a group without members."""

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
from tests.simulation.actors.client import Call, Client
from tests.simulation.actors.member import LATER, NO_GROUP, UNKNOWN_TOPIC, check_offsets
from tests.simulation.committed import Key
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

NOT_EMPTY, SUBSCRIBED = 68, 86


class Committer(Client):
    def __init__(self, world: World, name: str, group_id: str) -> None:
        super().__init__(world, name)
        self.group_id = group_id
        self.left = self.random.choice((4, 10, 25))
        #: Commits in flight.
        self._pipeline = self.random.choice((1, 1, 3))
        #: Probability of a deletion.
        self._deletes = self.random.choice((0.0, 0.1, 0.2))

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        if not world.has_groups:
            return []
        count = world.group_random.choice((1, 2, 3))
        ids = [world.group_random.choice(("simple", "plain")) for _ in range(count)]
        return [cls(world, f"o{number}", group_id) for number, group_id in enumerate(ids)]

    def send_next(self) -> None:
        while self.line is not None and self.in_flight < self._pipeline:
            if not self.left:
                if not self.in_flight:
                    self.finish()
                return
            self.left -= 1
            dice = self.random.random()
            if dice < self._deletes:
                self._delete()
            elif dice < 0.4:
                self._read()
            else:
                self._commit()

    def lost(self, calls: list[Call]) -> None:
        self.left += len(calls)

    def _later(self) -> None:
        self.later(self.random.choice((0, 1, 20, 60)))

    # ---- commits

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
        partitions = OffsetCommitRequestTopic(name=topic, partitions=[partition])
        version = self.random.choice((2, 6, 8, 9))
        self.send(
            OffsetCommitRequest(group_id=self.group_id, topics=[partitions]),
            version,
            lambda call, response: self._committed(call, response, key, offset),
        )

    def _committed(self, call: Call, response: Any, key: Key, offset: int) -> None:
        code = response.topics[0].partitions[0].error_code
        if code == 0:
            self.world.model.committed.acked(key, offset, call.responded)
            self.world.count(Situation.OFFSET_COMMITTED)
        elif code == UNKNOWN_TOPIC:
            self.world.model.refused_as_unknown(key[1], key[2], *call.commits)
        elif code in LATER:
            self.world.count(Situation.OFFSET_REFUSED)
            self.left += 1
        else:
            raise Violation(f"{self.name}: OffsetCommit failed with {code}")
        self._later()

    # ---- fetches

    def _read(self) -> None:
        group = OffsetFetchRequestGroup(group_id=self.group_id, topics=None)
        self.send(OffsetFetchRequest(groups=[group]), 8, self._offsets_response)

    def _offsets_response(self, call: Call, response: Any) -> None:
        check_offsets(self, call, response)
        check_all_offsets(self, call, response)
        self._later()

    # ---- deletions

    def _delete(self) -> None:
        committed = self.world.model.committed
        if self.random.random() < 0.5:
            committed.deletion_requested(self.group_id)
            self.send(DeleteGroupsRequest(groups_names=[self.group_id]), 2, self._deleted)
            return
        topic, index = self.random.choice(self._topics())
        committed.deletion_requested((self.group_id, topic, index))
        partition = OffsetDeleteRequestPartition(partition_index=index)
        partitions = OffsetDeleteRequestTopic(name=topic, partitions=[partition])
        request = OffsetDeleteRequest(group_id=self.group_id, topics=[partitions])
        self.send(request, 0, self._removed)

    def _deleted(self, call: Call, response: Any) -> None:
        code = response.results[0].error_code
        if code == 0:
            self.world.model.committed.deleted(self.group_id, *call.commits)
            self.world.count(Situation.GROUP_DELETED)
        elif code not in (*LATER, NO_GROUP):
            raise Violation(f"{self.name}: DeleteGroups failed with {code}")
        self._later()

    def _removed(self, call: Call, response: Any) -> None:
        if response.error_code not in (0, NO_GROUP, *LATER):
            raise Violation(f"{self.name}: OffsetDelete failed with {response.error_code}")
        for topic in response.topics:
            for one in topic.partitions:
                key = self.group_id, topic.name, one.partition_index
                if one.error_code == 0:
                    self.world.model.committed.removed(key, *call.commits)
                elif one.error_code == UNKNOWN_TOPIC:
                    self.world.model.refused_as_unknown(key[1], key[2], *call.commits)
        self._later()


def check_all_offsets(client: Client, call: Call, response: Any) -> None:
    """Checks a response with all offsets: partitions that it lacks have none."""
    committed = client.world.model.committed
    for group in response.groups:
        if group.error_code:
            continue
        found = {(t.name, one.partition_index) for t in group.topics for one in t.partitions}
        for key in committed.keys(group.group_id):
            if key[1:] not in found:
                committed.check(key, -1, "", *call.commits)


class OffsetAuditor(Client):
    """Checks all committed offsets after the last restart."""

    def __init__(self, world: World, group_ids: list[str]) -> None:
        super().__init__(world, "books")
        self._group_ids = group_ids
        self._waiting = False

    def send_next(self) -> None:
        if not self._waiting:
            self._waiting = True
            groups = [OffsetFetchRequestGroup(group_id=one, topics=None) for one in self._group_ids]
            self.send(OffsetFetchRequest(groups=groups), 8, self._offsets_response)

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False

    def _offsets_response(self, call: Call, response: Any) -> None:
        self._waiting = False
        if any(one.error_code in LATER for one in response.groups):
            self.later(20)
            return
        check_offsets(self, call, response)
        check_all_offsets(self, call, response)
        self.finished = True
