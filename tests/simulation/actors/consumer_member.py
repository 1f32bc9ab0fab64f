"""A member of a consumer group (KIP-848): it is told what it gets, and says what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from tests.simulation.actors.client import Asked, Client
from tests.simulation.actors.member import (
    FENCED,
    FENCED_EPOCH,
    LATER,
    NO_GROUP,
    STALE_EPOCH,
    UNKNOWN_MEMBER,
    UNRELEASED,
    Member,
)
from tests.simulation.membership import Membership
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

SESSION_TIMEOUT_MS, BEAT_MS = 800, 100
#: Longer than any session: who is told to give something up does so.
REBALANCE_TIMEOUT_MS = 20_000
JOINS, LEAVES, LEAVES_STATIC = 0, -1, -2


class ConsumerMember(Member):
    def __init__(self, world: World, name: str, group: Membership) -> None:
        super().__init__(world, name, group)
        random = self.random
        self._made = 0
        self.member_id = self._new_id()
        if random.random() < 0.3:
            self.instance_id = f"instance-{name}"
        self._assignor = random.choice((None, None, "range", "uniform"))
        self._regex = random.random() < 0.2
        #: Whether the next heartbeat has to say all there is.
        self._tells_all = True
        #: It has given something up, or got something, and the broker does not know.
        self.is_to_tell = False
        self._floor = 0
        self._lives = 0

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        return [
            cls(world, f"{group.group_id}{number}", group)
            for group in world.groups_of(modern=True)
            for number in range(world.group_random.choice((1, 2, 2, 3)))
        ]

    def _new_id(self) -> str:
        self._made += 1
        return f"{self.name}-{self._made}"

    def go_on(self) -> None:
        if self._asking or self.is_silent:
            return
        if self.number > 0 and self.has_to_commit():
            self.commit()
        elif self.world.timeline.now >= self._next_beat_ms:
            self.beat()
        elif self.may_commit() and self.number > 0:
            self.commit()
        elif self.owned and self.random.random() < 0.1:
            self.read_back()
        elif self.world.turmoil and self.number > 0 and self.random.random() < 0.03:
            self.leave()
        else:
            self.later(self._next_beat_ms - self.world.timeline.now)

    def lost(self, asked: list[Asked]) -> None:
        """What was answered is not known: it tells everything, and is told everything."""
        super().lost(asked)
        self._tells_all = True

    def forget(self) -> None:
        self.number = JOINS
        self.owned, self.held = set(), set()
        self.settled = False
        self._tells_all = True
        self._next_beat_ms = 0
        self.surely_member_until_ms = -1
        if self.random.random() < 0.5:
            self.member_id = self._new_id()

    # ---- heartbeats

    def beat(self) -> None:
        self._asking = True
        self._lives, self._floor = self.group.lives, self.group.floor
        joins = self.number == JOINS
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            member_epoch=self.number,
            instance_id=self.instance_id,
        )
        if joins or self._tells_all:
            request.rebalance_timeout_ms = REBALANCE_TIMEOUT_MS
            if self._regex:
                request.subscribed_topic_regex = "|".join(sorted(self.topics))
            else:
                request.subscribed_topic_names = sorted(self.topics)
            request.server_assignor = self._assignor
        if joins:
            request.topic_partitions = []
        else:
            request.topic_partitions = self._partitions()
        self._tells_all = False
        self.ask(request, 1, self._beaten)

    def _partitions(self) -> list[TopicPartitions] | None:
        """By the ids of topics: of those that it was told of."""
        by_id: dict[bytes, list[int]] = {}
        for topic_id, index in sorted(self.held):
            by_id.setdefault(topic_id, []).append(index)
        return [TopicPartitions(topic_id=one, partitions=found) for one, found in by_id.items()]

    def _beaten(self, asked: Asked, answer: Any) -> None:
        code = answer.error_code
        if asked.message.member_id != self.member_id:
            self.again(0)  # it has become another while this was on its way
            return
        if code == 0:
            self.is_to_tell = False
            self._heard_of(asked, answer)
            wait_ms = 0 if self.is_to_tell else self.random.choice((20, BEAT_MS))
            self._next_beat_ms = self.world.timeline.now + wait_ms
            self.again(0)
            return
        if code in (UNKNOWN_MEMBER, FENCED_EPOCH, NO_GROUP):
            if code != FENCED_EPOCH and self.instance_id is None:
                self.forgotten_too_soon("ConsumerGroupHeartbeat")
            self.forget()
        elif code == FENCED:
            self.forget()
        elif code == UNRELEASED:
            self._tells_all = True
        elif code not in LATER:
            raise Violation(f"{self.name}: ConsumerGroupHeartbeat was answered with {code}")
        else:
            self._tells_all = True
        self.again(40)

    def _heard_of(self, asked: Asked, answer: Any) -> None:
        joined = asked.message.member_epoch == JOINS
        number = answer.member_epoch
        if number < self.number:
            raise Violation(f"{self.name} goes back from epoch {self.number} to {number}")
        floor = self._floor if joined and self.instance_id is None else 0
        self.group.rises_to(number, floor, self._lives, self.name)
        self.number = number
        self.heard(asked, SESSION_TIMEOUT_MS)
        if answer.assignment is None:
            if joined:
                raise Violation(f"{self.name} joins, and is not told what it gets")
        else:
            self._given(answer.assignment)
        self.settled = True

    def _given(self, assignment: Any) -> None:
        names = {
            one.topic_id: name
            for name, known in self.world.model.incarnations.items()
            for one in known
            if one.dead is None
        }
        owned = {
            (names[topic.topic_id], index)
            for topic in assignment.topic_partitions
            for index in topic.partitions
            if topic.topic_id in names
        }
        held = {
            (topic.topic_id, index)
            for topic in assignment.topic_partitions
            for index in topic.partitions
        }
        self.group.given(self, held)
        if self.held - held:
            self.world.tell(Story.REVOKED)
        if len(self.group.members) > 1 and held - self.held:
            self.world.tell(Story.GIVEN)
        self.is_to_tell = held != self.held
        self.owned, self.held = owned, held

    # ---- going

    def leave(self) -> None:
        self._asking = True
        away = self.instance_id is not None and self.random.random() < 0.5
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            member_epoch=LEAVES_STATIC if away else LEAVES,
            instance_id=self.instance_id,
        )
        self.owned, self.held = set(), set()
        self.settled = False
        self.surely_member_until_ms = -1
        self.ask(request, 1, self._left)

    def _left(self, asked: Asked, answer: Any) -> None:
        if answer.error_code == 0:
            self.world.tell(Story.LEFT)
        self.forget()
        self.again(self.random.choice((0, 100)))

    def not_a_member(self, code: int) -> None:
        if code == STALE_EPOCH:
            self._next_beat_ms = 0
        elif code in (UNKNOWN_MEMBER, FENCED, NO_GROUP):
            self.forget()
        else:
            raise Violation(f"{self.name}: OffsetCommit was answered with {code}")
