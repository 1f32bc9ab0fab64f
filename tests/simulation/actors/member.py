"""Common parts of members of both protocols: commits, pauses and rejoining."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from interfaces.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.fakes.consumer_protocol import by_topic
from tests.simulation.actors.client import Call, Client
from tests.simulation.committed import Key
from tests.simulation.membership import Membership
from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.world import World

UNKNOWN_TOPIC, LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 3, 14, 15, 16
ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCES, STORAGE = 22, 25, 27, 56
ID_REQUIRED, FENCED, NO_GROUP, FENCED_EPOCH, UNRELEASED, STALE_EPOCH = 79, 82, 69, 110, 111, 113
#: Retriable errors.
LATER = (LOADING, NOT_AVAILABLE, NOT_COORDINATOR, STORAGE)


class Member(Client):
    def __init__(self, world: World, name: str, group: Membership) -> None:
        super().__init__(world, name)
        self.group = group
        group.members.append(self)
        self.topics = set(world.topic_names)
        self.member_id = ""
        #: The generation or the epoch.
        self.number = 0
        self.owned: set[tuple[str, int]] = set()
        #: The same by topic id (consumer protocol).
        self.held: set[tuple[bytes, int]] = set()
        self.settled = False
        #: Its session cannot have expired before this time.
        self.member_until_ms = -1
        self.instance_id: str | None = None
        self._waiting = False
        self._next_heartbeat_ms = 0
        self._commits_left = self.random.choice((0, 3, 10))
        self._paused_until_ms = -1
        #: After a pause it commits before its next heartbeat.
        self.commits_first = False
        for _ in range(self.random.choice((0, 0, 1, 2))):
            world.timeline.after(self.random.randrange(100, 700), self._pause)

    # ---- to implement

    def send_heartbeat(self) -> None:
        raise NotImplementedError

    def reset_membership(self) -> None:
        """Resets its membership."""
        raise NotImplementedError

    def leave(self) -> None:
        raise NotImplementedError

    def not_a_member(self, code: int) -> None:
        """Handles the error of a refused commit."""
        raise NotImplementedError

    # ---- life

    def _pause(self) -> None:
        """Pauses, as a client that hangs or is killed."""
        if self.finished:
            return
        for_ms = self.random.choice((50, 400, 2500))
        self.log(f"pauses for {for_ms} ms")
        self._paused_until_ms = self.world.timeline.now + for_ms
        dice = self.random.random()
        if dice < 0.6:
            self.disconnect()
        if dice < 0.3:
            self.reset_membership()
        self.commits_first = self._commits_left > 0 and self.random.random() < 0.5
        self.later(for_ms)

    @property
    def is_paused(self) -> bool:
        return self.world.timeline.now < self._paused_until_ms

    def lost(self, calls: list[Call]) -> None:
        self._waiting = False

    def again(self, delay_ms: int) -> None:
        self._waiting = False
        self.later(delay_ms)

    def accepted(self, call: Call, session_timeout_ms: int) -> None:
        """The broker received this request when it was sent, or later."""
        self.member_until_ms = call.sent_ms + session_timeout_ms

    def check_expired(self, what: str) -> None:
        """Checks that its session may have expired."""
        if self.settled and self.world.timeline.now < self.member_until_ms:
            raise Violation(
                f"{self.name} ({self.member_id}) was removed before its session timeout: {what}"
            )

    def is_done(self) -> bool:
        return self.finished or (not self.world.has_faults and self.group.is_settled())

    # ---- offsets

    def has_to_commit(self) -> bool:
        first, self.commits_first = self.commits_first, False
        return first and bool(self.owned)

    def may_commit(self) -> bool:
        return bool(self._commits_left and self.owned and self.random.random() < 0.5)

    def commit(self) -> None:
        chosen = self.random.sample(sorted(self.owned), min(2, len(self.owned)))
        topics = []
        attempts: list[tuple[Key, int]] = []
        for topic, indexes in by_topic(chosen).items():
            partitions = []
            for index in indexes:
                key = (self.group.group_id, topic, index)
                offset, metadata = self.world.model.committed.attempt(key)
                attempts.append((key, offset))
                partitions.append(
                    OffsetCommitRequestPartition(
                        partition_index=index, committed_offset=offset, committed_metadata=metadata
                    )
                )
            topics.append(OffsetCommitRequestTopic(name=topic, partitions=partitions))
        request = OffsetCommitRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            generation_id_or_member_epoch=self.number,
            group_instance_id=self.instance_id,
            topics=topics,
        )
        is_over = not self.group.is_consumer and self.group.is_over(self.number)
        is_fenced = self.member_id in self.group.fenced
        self._waiting = True
        self.send(
            request,
            9,
            lambda call, response: self._committed(call, response, attempts, is_over, is_fenced),
        )

    def _committed(
        self, call: Call, response: Any, attempts: list[tuple[Key, int]], is_over: bool,
        is_fenced: bool,
    ) -> None:  # fmt: skip
        codes = {
            (self.group.group_id, topic.name, one.partition_index): one.error_code
            for topic in response.topics
            for one in topic.partitions
        }
        for key, offset in attempts:
            code = codes[key]
            if code == 0:
                if is_over or is_fenced:
                    raise Violation(
                        f"{self.name} commits for generation {call.message}, which has ended"
                    )
                self.world.model.committed.acked(key, offset, call.responded)
                self._commits_left = max(0, self._commits_left - 1)
            elif code == UNKNOWN_TOPIC:
                self.world.model.refused_as_unknown(key[1], key[2], *call.commits)
        refused = [one for one in codes.values() if one not in (0, UNKNOWN_TOPIC, *LATER)]
        if refused:
            self.not_a_member(refused[0])
        self.again(self.random.choice((1, 20)))

    def read_back(self) -> None:
        """Fetches the committed offsets of its partitions."""
        chosen = sorted(self.owned)
        group = OffsetFetchRequestGroup(
            group_id=self.group.group_id,
            topics=[
                OffsetFetchRequestTopics(name=topic, partition_indexes=indexes)
                for topic, indexes in by_topic(chosen).items()
            ],
        )
        self._waiting = True
        self.send(OffsetFetchRequest(groups=[group], require_stable=True), 8, self._read)

    def _read(self, call: Call, response: Any) -> None:
        check_offsets(self, call, response)
        self.again(self.random.choice((1, 20)))


def check_offsets(client: Client, call: Call, response: Any) -> None:
    """Of OffsetFetch 8 or 9."""
    for group in response.groups:
        if group.error_code in LATER:
            continue
        if group.error_code:
            raise Violation(f"{client.name}: OffsetFetch failed with {group.error_code}")
        for topic in group.topics:
            for one in topic.partitions:
                if one.error_code:
                    raise Violation(f"{client.name}: OffsetFetch failed with {one.error_code}")
                client.world.model.committed.check(
                    (group.group_id, topic.name, one.partition_index),
                    one.committed_offset,
                    one.metadata or "",
                    *call.commits,
                )
