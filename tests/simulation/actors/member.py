"""What members of both protocols have in common: commits, silence, and coming back."""

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
from tests.simulation.actors.client import Asked, Client
from tests.simulation.committed import Key
from tests.simulation.membership import Membership
from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.world import World

UNKNOWN_TOPIC, LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 3, 14, 15, 16
ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCES, STORAGE = 22, 25, 27, 56
ID_REQUIRED, FENCED, NO_GROUP, FENCED_EPOCH, UNRELEASED, STALE_EPOCH = 79, 82, 69, 110, 111, 113
#: Of which the broker says: another time.
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
        #: The same by the ids of topics, where the broker tells them.
        self.held: set[tuple[bytes, int]] = set()
        self.settled = False
        #: Before that, the broker cannot have thought it silent for too long.
        self.surely_member_until_ms = -1
        self.instance_id: str | None = None
        self._asking = False
        self._next_beat_ms = 0
        self._commits_left = self.random.choice((0, 3, 10))
        self._silent_until_ms = -1
        #: It does not know how long it was silent, and goes on with what it was at.
        self.commits_first = False
        for _ in range(self.random.choice((0, 0, 1, 2))):
            world.timeline.after(self.random.randrange(100, 700), self._fall_silent)

    # ---- what the protocols add

    def beat(self) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """It is no member any more."""
        raise NotImplementedError

    def leave(self) -> None:
        raise NotImplementedError

    def not_a_member(self, code: int) -> None:
        """A commit was refused."""
        raise NotImplementedError

    # ---- life

    def _fall_silent(self) -> None:
        """It hangs, or its process is killed; the broker only sees that nothing comes."""
        if self.finished:
            return
        for_ms = self.random.choice((50, 400, 2500))
        self.say(f"is not heard of for {for_ms} ms")
        self._silent_until_ms = self.world.timeline.now + for_ms
        dice = self.random.random()
        if dice < 0.6:
            self.hang_up()
        if dice < 0.3:
            self.forget()
        self.commits_first = self._commits_left > 0 and self.random.random() < 0.5
        self.later(for_ms)

    @property
    def is_silent(self) -> bool:
        return self.world.timeline.now < self._silent_until_ms

    def lost(self, asked: list[Asked]) -> None:
        self._asking = False

    def again(self, delay_ms: int) -> None:
        self._asking = False
        self.later(delay_ms)

    def heard(self, asked: Asked, session_timeout_ms: int) -> None:
        """The broker has heard of it when this was on its way, or later."""
        self.surely_member_until_ms = asked.sent_ms + session_timeout_ms

    def forgotten_too_soon(self, what: str) -> None:
        """It is said to be no member: its session, and any rebalance, take longer than that."""
        if self.settled and self.world.timeline.now < self.surely_member_until_ms:
            raise Violation(
                f"{self.name} ({self.member_id}) was heard of, and is no member any more: {what}"
            )

    def is_content(self) -> bool:
        return self.finished or (not self.world.turmoil and self.group.is_settled())

    # ---- offsets

    def has_to_commit(self) -> bool:
        first, self.commits_first = self.commits_first, False
        return first and bool(self.owned)

    def may_commit(self) -> bool:
        return bool(self._commits_left and self.owned and self.random.random() < 0.5)

    def commit(self) -> None:
        wanted = self.random.sample(sorted(self.owned), min(2, len(self.owned)))
        topics = []
        attempts: list[tuple[Key, int]] = []
        for topic, indexes in by_topic(wanted).items():
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
        is_over = not self.group.is_modern and self.group.is_over(self.number)
        is_fenced = self.member_id in self.group.fenced
        self._asking = True
        self.ask(
            request,
            9,
            lambda asked, answer: self._committed(asked, answer, attempts, is_over, is_fenced),
        )

    def _committed(
        self, asked: Asked, answer: Any, attempts: list[tuple[Key, int]], is_over: bool,
        is_fenced: bool,
    ) -> None:  # fmt: skip
        codes = {
            (self.group.group_id, topic.name, one.partition_index): one.error_code
            for topic in answer.topics
            for one in topic.partitions
        }
        for key, offset in attempts:
            code = codes[key]
            if code == 0:
                if is_over or is_fenced:
                    raise Violation(
                        f"{self.name} commits for generation {asked.message}, which is over"
                    )
                self.world.model.committed.acked(key, offset, asked.told)
                self._commits_left = max(0, self._commits_left - 1)
            elif code == UNKNOWN_TOPIC:
                self.world.model.refused_as_unknown(key[1], key[2], asked.asked, asked.told)
        refused = [one for one in codes.values() if one not in (0, UNKNOWN_TOPIC, *LATER)]
        if refused:
            self.not_a_member(refused[0])
        self.again(self.random.choice((1, 20)))

    def read_back(self) -> None:
        """What its group has committed for what it has."""
        wanted = sorted(self.owned)
        group = OffsetFetchRequestGroup(
            group_id=self.group.group_id,
            topics=[
                OffsetFetchRequestTopics(name=topic, partition_indexes=indexes)
                for topic, indexes in by_topic(wanted).items()
            ],
        )
        self._asking = True
        self.ask(OffsetFetchRequest(groups=[group], require_stable=True), 8, self._read)

    def _read(self, asked: Asked, answer: Any) -> None:
        judge_offsets(self, asked, answer)
        self.again(self.random.choice((1, 20)))


def judge_offsets(who: Client, asked: Asked, answer: Any) -> None:
    """Of version 8 or 9."""
    for group in answer.groups:
        if group.error_code in LATER:
            continue
        if group.error_code:
            raise Violation(f"{who.name}: OffsetFetch was answered with {group.error_code}")
        for topic in group.topics:
            for one in topic.partitions:
                if one.error_code:
                    raise Violation(f"{who.name}: OffsetFetch was answered with {one.error_code}")
                who.world.model.committed.told(
                    (group.group_id, topic.name, one.partition_index),
                    one.committed_offset,
                    one.metadata or "",
                    asked.asked,
                    asked.told,
                )
