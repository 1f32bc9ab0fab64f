"""A member of a consumer group (KIP-848)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from tests.simulation.actors.client import Call, Client
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
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

SESSION_TIMEOUT_MS, BEAT_MS = 800, 100
#: Longer than any session timeout: every member revokes in time.
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
        #: True if the next heartbeat has all fields.
        self._full_heartbeat = True
        #: It has to confirm a changed assignment.
        self.has_changes = False
        self._floor = 0
        self._lives = 0

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        return [
            cls(world, f"{group.group_id}{number}", group)
            for group in world.groups_of(consumer=True)
            for number in range(world.group_random.choice((1, 2, 2, 3)))
        ]

    def _new_id(self) -> str:
        self._made += 1
        return f"{self.name}-{self._made}"

    def send_next(self) -> None:
        if self._waiting or self.is_paused:
            return
        if self.number > 0 and self.has_to_commit():
            self.commit()
        elif self.world.timeline.now >= self._next_heartbeat_ms:
            self.send_heartbeat()
        elif self.may_commit() and self.number > 0:
            self.commit()
        elif self.owned and self.random.random() < 0.1:
            self.read_back()
        elif self.world.has_faults and self.number > 0 and self.random.random() < 0.03:
            self.leave()
        else:
            self.later(self._next_heartbeat_ms - self.world.timeline.now)

    def lost(self, calls: list[Call]) -> None:
        """Without a response it sends a full heartbeat, and gets the whole assignment."""
        super().lost(calls)
        self._full_heartbeat = True

    def reset_membership(self) -> None:
        self.number = JOINS
        self.owned, self.held = set(), set()
        self.settled = False
        self._full_heartbeat = True
        self._next_heartbeat_ms = 0
        self.member_until_ms = -1
        if self.random.random() < 0.5:
            self.member_id = self._new_id()

    # ---- heartbeats

    def send_heartbeat(self) -> None:
        self._waiting = True
        self._lives, self._floor = self.group.lives, self.group.floor
        joins = self.number == JOINS
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            member_epoch=self.number,
            instance_id=self.instance_id,
        )
        if joins or self._full_heartbeat:
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
        self._full_heartbeat = False
        self.send(request, 1, self._heartbeat_response)

    def _partitions(self) -> list[TopicPartitions] | None:
        """Its partitions by topic id."""
        by_id: dict[bytes, list[int]] = {}
        for topic_id, index in sorted(self.held):
            by_id.setdefault(topic_id, []).append(index)
        return [TopicPartitions(topic_id=one, partitions=found) for one, found in by_id.items()]

    def _heartbeat_response(self, call: Call, response: Any) -> None:
        code = response.error_code
        if call.message.member_id != self.member_id:
            self.again(0)  # it has a new member id by now
            return
        if code == 0:
            self.has_changes = False
            self._accepted(call, response)
            wait_ms = 0 if self.has_changes else self.random.choice((20, BEAT_MS))
            self._next_heartbeat_ms = self.world.timeline.now + wait_ms
            self.again(0)
            return
        if code in (UNKNOWN_MEMBER, FENCED_EPOCH, NO_GROUP):
            if code != FENCED_EPOCH and self.instance_id is None:
                self.check_expired("ConsumerGroupHeartbeat")
            self.reset_membership()
        elif code == FENCED:
            self.reset_membership()
        elif code == UNRELEASED:
            self._full_heartbeat = True
        elif code not in LATER:
            raise Violation(f"{self.name}: ConsumerGroupHeartbeat failed with {code}")
        else:
            self._full_heartbeat = True
        self.again(40)

    def _accepted(self, call: Call, response: Any) -> None:
        joined = call.message.member_epoch == JOINS
        number = response.member_epoch
        if number < self.number:
            raise Violation(f"{self.name} goes back from epoch {self.number} to {number}")
        floor = self._floor if joined and self.instance_id is None else 0
        self.group.check_rises(number, floor, self._lives, self.name)
        self.number = number
        self.accepted(call, SESSION_TIMEOUT_MS)
        if response.assignment is None:
            if joined:
                raise Violation(f"{self.name} joins, and gets no assignment")
        else:
            self._assigned(response.assignment)
        self.settled = True

    def _assigned(self, assignment: Any) -> None:
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
        self.group.check_owners(self, held)
        if self.held - held:
            self.world.count(Situation.REVOKED)
        if len(self.group.members) > 1 and held - self.held:
            self.world.count(Situation.ASSIGNED)
        self.has_changes = held != self.held
        self.owned, self.held = owned, held

    # ---- leaving

    def leave(self) -> None:
        self._waiting = True
        away = self.instance_id is not None and self.random.random() < 0.5
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            member_epoch=LEAVES_STATIC if away else LEAVES,
            instance_id=self.instance_id,
        )
        self.owned, self.held = set(), set()
        self.settled = False
        self.member_until_ms = -1
        self.send(request, 1, self._left)

    def _left(self, call: Call, response: Any) -> None:
        if response.error_code == 0:
            self.world.count(Situation.LEFT)
        self.reset_membership()
        self.again(self.random.choice((0, 100)))

    def not_a_member(self, code: int) -> None:
        if code == STALE_EPOCH:
            self._next_heartbeat_ms = 0
        elif code in (UNKNOWN_MEMBER, FENCED, NO_GROUP):
            self.reset_membership()
        else:
            raise Violation(f"{self.name}: OffsetCommit failed with {code}")
