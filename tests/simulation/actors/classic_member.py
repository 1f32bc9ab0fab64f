"""A member of a classic group: eager or cooperative, static or not, sometimes its leader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.messages.heartbeat import HeartbeatRequest
from interfaces.kafka.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from interfaces.kafka.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.fakes.consumer_protocol import (
    assigned_in,
    assignment,
    by_topic,
    owned_in,
    subscription,
)
from tests.simulation.actors.client import Asked, Client
from tests.simulation.actors.member import (
    FENCED,
    ID_REQUIRED,
    ILLEGAL_GENERATION,
    LATER,
    REBALANCES,
    UNKNOWN_MEMBER,
    Member,
)
from tests.simulation.membership import Membership
from tests.simulation.model import Violation
from tests.simulation.stories import Story

if TYPE_CHECKING:
    from tests.simulation.world import World

EAGER, COOPERATIVE = "range", "cooperative-sticky"
#: The version in which a leader may be told not to assign.
SKIPS = 9


class ClassicMember(Member):
    def __init__(self, world: World, name: str, group: Membership, protocol: str) -> None:
        super().__init__(world, name, group)
        random = self.random
        self.version = random.choice((2, 3, 4, 5, 7, 9))
        self.protocol = protocol
        self.session_timeout_ms = random.choice((600, 900))
        self.rebalance_timeout_ms = random.choice((900, 1500))
        if self.version >= 5 and random.random() < 0.4:
            self.instance_id = f"instance-{name}"
        self._leads = self._skips = False
        self._members: dict[str, bytes] = {}
        self._synced = False
        self._joined = False
        #: What there was when it last assigned, as its leader.
        self._assigned_of: set[tuple[str, int]] | None = set()
        self._known: set[tuple[str, int]] = set()
        self._decided: dict[str, bytes] = {}
        self._decided_in = 0
        self._look = True
        self._lives = 0
        self._floor = 0
        self._old_id = ""
        #: Of its subscription: a member that says something new makes the others join again.
        self._metadata_version = 1
        self._patrol()

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        members: list[Client] = []
        for group in world.groups_of(modern=False):
            protocol = world.group_random.choice((EAGER, EAGER, COOPERATIVE))
            for number in range(world.group_random.choice((1, 2, 2, 3))):
                members.append(cls(world, f"{group.group_id}{number}", group, protocol))
        return members

    def _patrol(self) -> None:
        if not self.finished:
            self._look = True
            self.wake()
            self.world.timeline.after(self.random.choice((150, 400)), self._patrol)

    # ---- what to do next

    def go_on(self) -> None:
        if self._asking or self.is_silent:
            return
        if self._look:
            self._look_at_topics()
        elif self._synced and self.has_to_commit():
            self.commit()
        elif not self._joined:
            self._join()
        elif not self._synced:
            self._sync()
        elif self._leads and self._known != self._assigned_of:
            self._joined = False
            self._join()
        elif self.world.timeline.now >= self._next_beat_ms:
            self.beat()
        elif self.may_commit():
            self.commit()
        elif self.owned and self.random.random() < 0.1:
            self.read_back()
        elif self.world.turmoil and self.random.random() < 0.03:
            self.leave()
        elif self.world.turmoil and self.instance_id and self.random.random() < 0.1:
            self._come_back_as_another()
        else:
            self.later(self._next_beat_ms - self.world.timeline.now)

    def forget(self) -> None:
        self.member_id = ""
        self.surely_member_until_ms = -1
        self._no_generation()

    def _no_generation(self) -> None:
        self._joined = self._synced = self.settled = False
        if self.protocol == EAGER or not self.member_id:
            self.owned = set()

    # ---- topics

    def _look_at_topics(self) -> None:
        self._asking = True
        wanted = [MetadataRequestTopic(name=name) for name in sorted(self.topics)]
        self.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), 12, self._listed)

    def _listed(self, asked: Asked, answer: Any) -> None:
        self._look = False
        topics = self.world.known_topics(asked, answer)
        self._known = {(name, i) for name, (_, count) in topics.items() for i in range(count)}
        self.again(0)

    # ---- joining

    def _join(self) -> None:
        self._asking = True
        self._synced = self.settled = False
        self._lives, self._floor = self.group.lives, self.group.floor
        owned = by_topic(self.owned)
        topics = sorted(self.topics)
        metadata = subscription(*topics, owned=owned, version=self._metadata_version)
        request = JoinGroupRequest(
            group_id=self.group.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=self.protocol, metadata=metadata)],
        )
        self.ask(request, self.version, self._told_of_join)

    def _told_of_join(self, asked: Asked, answer: Any) -> None:
        code = answer.error_code
        if code == 0:
            self._in_generation(asked, answer)
        elif code == ID_REQUIRED:
            self.member_id = answer.member_id
            self._joined = False
        elif code in (UNKNOWN_MEMBER, FENCED):
            self._dropped(code, "JoinGroup")
        elif code not in (*LATER, REBALANCES):
            raise Violation(f"{self.name}: JoinGroup was answered with {code}")
        self.again(20 if code in LATER else 0)

    def _in_generation(self, asked: Asked, answer: Any) -> None:
        number = answer.generation_id
        self.group.rises_to(number, self._floor, self._lives, self.name)
        if asked.message.member_id and asked.message.member_id in self.group.fenced:
            raise Violation(f"{asked.message.member_id} was fenced, and joins")
        if self.instance_id and self._old_id and answer.member_id != self._old_id:
            self.group.fenced.add(self._old_id)
            self.world.tell(Story.STATIC_RETURN)
        if 0 < self.number < number and self.random.random() < 0.3:
            self._commit_for_the_last(answer.member_id, self.number)
        if number != self.number or self.member_id not in self._decided:
            self._decided_in = 0
        self.member_id, self.number = answer.member_id, number
        # Then nobody leads who knows of it: somebody has to see to it that topics are looked after.
        led_before = bool(self._old_id) and answer.leader == self._old_id != answer.member_id
        self._old_id = answer.member_id
        self._leads = answer.leader == self.member_id
        self.group.joined(number, answer.leader, self.member_id, self._lives)
        self._members = {one.member_id: one.metadata for one in answer.members}
        if self._leads and self.member_id not in self._members:
            raise Violation(f"{self.name} leads, and is not among {list(self._members)}")
        self._skips = answer.skip_assignment
        if self._skips:
            self._assigned_of = None  # unknown, so it joins and assigns once more
        if len(self._members) > 1:
            self.world.tell(Story.REBALANCED)
        self._joined = not led_before
        if led_before:
            self._metadata_version ^= 3

    def _commit_for_the_last(self, member_id: str, number: int) -> None:
        """What comes late of a generation that is over."""
        key = self.group.group_id, min(self.topics), 0
        offset, metadata = self.world.model.committed.attempt(key)
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=metadata
        )
        request = OffsetCommitRequest(
            group_id=self.group.group_id,
            member_id=member_id,
            generation_id_or_member_epoch=number,
            group_instance_id=self.instance_id,
            topics=[OffsetCommitRequestTopic(name=key[1], partitions=[partition])],
        )
        self.ask(request, 9, self._told_that_it_is_late)

    def _told_that_it_is_late(self, asked: Asked, answer: Any) -> None:
        if answer.topics[0].partitions[0].error_code == 0:
            raise Violation(f"{self.name} commits for a generation that is over")

    def _dropped(self, code: int, what: str) -> None:
        if code == UNKNOWN_MEMBER:
            if self.instance_id is None:
                self.forgotten_too_soon(what)
            self.forget()
        elif code == FENCED:
            self.forget()
        else:
            self._no_generation()

    # ---- assigning

    def _sync(self) -> None:
        self._asking = True
        shares = self._assigned() if self._leads and not self._skips else {}
        request = SyncGroupRequest(
            group_id=self.group.group_id,
            generation_id=self.number,
            member_id=self.member_id,
            group_instance_id=self.instance_id if self.version >= 5 else None,
            protocol_type="consumer",
            protocol_name=self.protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=one, assignment=data)
                for one, data in shares.items()
            ],
        )
        self.ask(request, 5 if self.version >= 7 else 3, self._told_of_sync)

    def _assigned(self) -> dict[str, bytes]:
        """Who gets what: decided once in a generation, however often it has to be said."""
        if self._decided_in != self.number:
            self._decided_in, self._decided = self.number, self._shares()
            self._assigned_of = set(self._known)
            self.group.generation(self.number).assignments.append(self._decided)
        return self._decided

    def _shares(self) -> dict[str, bytes]:
        ids = sorted(self._members)
        wanted: dict[str, set[tuple[str, int]]] = {one: set() for one in ids}
        for place, partition in enumerate(sorted(self._known)):
            wanted[ids[place % len(ids)]].add(partition)
        if self.protocol == COOPERATIVE:
            owners = {p: one for one in ids for p in owned_in(self._members[one])}
            for one in ids:
                wanted[one] = {p for p in wanted[one] if owners.get(p, one) == one}
        return {one: assignment(by_topic(wanted[one])) for one in ids}

    def _told_of_sync(self, asked: Asked, answer: Any) -> None:
        code = answer.error_code
        if code == 0:
            owned = assigned_in(answer.assignment)
            self.group.assigned(
                asked.message.generation_id, self.member_id, self.instance_id,
                answer.assignment, owned,
            )  # fmt: skip
            self._synced = True
            gave_up = self.protocol == COOPERATIVE and bool(self.owned - owned)
            self.owned = owned
            self.settled = not gave_up
            self._next_beat_ms = self.world.timeline.now + self.session_timeout_ms // 5
            if gave_up:
                self.world.tell(Story.GAVE_UP)
                self._joined = False
        elif code in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            self._dropped(code, "SyncGroup")
        elif code not in LATER:
            raise Violation(f"{self.name}: SyncGroup was answered with {code}")
        self.again(20 if code in LATER else 0)

    # ---- staying and going

    def beat(self) -> None:
        self._asking = True
        is_over = self.group.is_over(self.number)
        is_fenced = self.member_id in self.group.fenced
        request = HeartbeatRequest(
            group_id=self.group.group_id,
            generation_id=self.number,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        self.ask(request, 4, lambda asked, answer: self._beaten(asked, answer, is_over, is_fenced))

    def _beaten(self, asked: Asked, answer: Any, is_over: bool, is_fenced: bool) -> None:
        code = answer.error_code
        if code == 0:
            if is_over or is_fenced:
                raise Violation(f"{self.name} is told that all is well, and its time is over")
            self.heard(asked, min(self.session_timeout_ms, self.rebalance_timeout_ms))
            self._next_beat_ms = self.world.timeline.now + self.session_timeout_ms // 5
        elif code in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            self._dropped(code, "Heartbeat")
        elif code not in LATER:
            raise Violation(f"{self.name}: Heartbeat was answered with {code}")
        self.again(20 if code in LATER else 0)

    def not_a_member(self, code: int) -> None:
        if code not in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            raise Violation(f"{self.name}: OffsetCommit was answered with {code}")
        self._dropped(code, "OffsetCommit")

    def leave(self) -> None:
        self._asking = True
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        self.surely_member_until_ms = -1
        self.settled = False
        request = LeaveGroupRequest(group_id=self.group.group_id, members=[identity])
        self.ask(request, 4, self._left)

    def _left(self, asked: Asked, answer: Any) -> None:
        if answer.error_code == 0 and answer.members[0].error_code == 0:
            self.world.tell(Story.LEFT)
        self.forget()
        self.again(self.random.choice((0, 100)))

    def _come_back_as_another(self) -> None:
        """Its process was started anew, and does not know its id; the old one is to be fenced."""
        old = self.member_id
        self.forget()
        self._join()
        self._asked[-1].answered = lambda asked, answer: self._came_back(asked, answer, old)

    def _came_back(self, asked: Asked, answer: Any, old: str) -> None:
        if answer.error_code == 0 and old and answer.member_id != old:
            self.group.fenced.add(old)
            self._try_the_old_one(old, answer.generation_id)
        self._told_of_join(asked, answer)

    def _try_the_old_one(self, old: str, number: int) -> None:
        request = HeartbeatRequest(
            group_id=self.group.group_id,
            generation_id=number,
            member_id=old,
            group_instance_id=self.instance_id,
        )
        self.ask(request, 4, self._tried)

    def _tried(self, asked: Asked, answer: Any) -> None:
        if answer.error_code == 0:
            raise Violation(f"{asked.message.member_id} was fenced, and is a member")
        if answer.error_code == FENCED:
            self.world.tell(Story.FENCED)
