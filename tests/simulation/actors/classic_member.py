"""A member of a classic group: eager or cooperative, dynamic or static, maybe the leader."""

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
from tests.simulation.actors.client import Call, Client
from tests.simulation.actors.member import (
    FENCED,
    ID_REQUIRED,
    ILLEGAL_GENERATION,
    LATER,
    NO_GROUP,
    REBALANCES,
    UNKNOWN_MEMBER,
    Member,
)
from tests.simulation.membership import Membership
from tests.simulation.model import Violation
from tests.simulation.situations import Situation

if TYPE_CHECKING:
    from tests.simulation.world import World

EAGER, COOPERATIVE = "range", "cooperative-sticky"
#: The first version with `skip_assignment`.
SKIP_ASSIGNMENT = 9


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
        #: The partitions of its last assignment as leader.
        self._assigned_of: set[tuple[str, int]] | None = set()
        self._known: set[tuple[str, int]] = set()
        self._decided: dict[str, bytes] = {}
        self._decided_in = 0
        self._topics_due = True
        self._lives = 0
        self._floor = 0
        self._old_id = ""
        #: Of its subscription: changed metadata starts a rebalance.
        self._metadata_version = 1
        self._refresh()

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        members: list[Client] = []
        for group in world.groups_of(consumer=False):
            protocol = world.group_random.choice((EAGER, EAGER, COOPERATIVE))
            for number in range(world.group_random.choice((1, 2, 2, 3))):
                members.append(cls(world, f"{group.group_id}{number}", group, protocol))
        return members

    def _refresh(self) -> None:
        if not self.finished:
            self._topics_due = True
            self.wake()
            self.world.timeline.after(self.random.choice((150, 400)), self._refresh)

    # ---- next request

    def send_next(self) -> None:
        if self._waiting or self.is_paused:
            return
        if self._topics_due:
            self._request_topics()
        elif self._synced and self.has_to_commit():
            self.commit()
        elif not self._joined:
            self._join()
        elif not self._synced:
            self._sync()
        elif self._leads and self._known != self._assigned_of:
            self._joined = False
            self._join()
        elif self.world.timeline.now >= self._next_heartbeat_ms:
            self.send_heartbeat()
        elif self.may_commit():
            self.commit()
        elif self.owned and self.random.random() < 0.1:
            self.read_back()
        elif self.world.has_faults and self.random.random() < 0.03:
            self.leave()
        elif self.world.has_faults and self.instance_id and self.random.random() < 0.1:
            self._rejoin_with_a_new_id()
        else:
            self.later(self._next_heartbeat_ms - self.world.timeline.now)

    def reset_membership(self) -> None:
        self.member_id = ""
        self.member_until_ms = -1
        self._reset_generation()

    def _reset_generation(self) -> None:
        self._joined = self._synced = self.settled = False
        if self.protocol == EAGER or not self.member_id:
            self.owned = set()

    # ---- topics

    def _request_topics(self) -> None:
        self._waiting = True
        topics = [MetadataRequestTopic(name=name) for name in sorted(self.topics)]
        self.send(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12, self._listed)

    def _listed(self, call: Call, response: Any) -> None:
        self._topics_due = False
        topics = self.world.known_topics(call, response)
        self._known = {(name, i) for name, (_, count) in topics.items() for i in range(count)}
        self.again(0)

    # ---- joining

    def _join(self) -> None:
        self._waiting = True
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
        self.send(request, self.version, self._join_response)

    def _join_response(self, call: Call, response: Any) -> None:
        code = response.error_code
        if code == 0:
            self._in_generation(call, response)
        elif code == ID_REQUIRED:
            self.member_id = response.member_id
            self._joined = False
        elif code in (UNKNOWN_MEMBER, FENCED):
            self._dropped(code, "JoinGroup")
        elif code not in (*LATER, REBALANCES):
            raise Violation(f"{self.name}: JoinGroup failed with {code}")
        self.again(20 if code in LATER else 0)

    def _in_generation(self, call: Call, response: Any) -> None:
        number = response.generation_id
        self.group.check_rises(number, self._floor, self._lives, self.name)
        if call.message.member_id and call.message.member_id in self.group.fenced:
            raise Violation(f"{call.message.member_id} is fenced, and joins")
        if self.instance_id and self._old_id and response.member_id != self._old_id:
            self.group.fenced.add(self._old_id)
            self.world.count(Situation.STATIC_RETURN)
        if 0 < self.number < number and self.random.random() < 0.3:
            self._commit_late(response.member_id, self.number)
        if number != self.number or self.member_id not in self._decided:
            self._decided_in = 0
        self.member_id, self.number = response.member_id, number
        # Its old id leads, so no leader watches the topics: changed metadata starts a rebalance.
        # The client may not know that id, if it did not receive the response.
        led_before = (
            self.instance_id is not None
            and response.leader.startswith(f"{self.instance_id}-")
            and response.leader != response.member_id
        )
        self._old_id = response.member_id
        self._leads = response.leader == self.member_id
        self.group.joined(number, response.leader, self.member_id, self._lives)
        self._members = {one.member_id: one.metadata for one in response.members}
        if self._leads and self.member_id not in self._members:
            raise Violation(f"{self.name} leads, but is not among {list(self._members)}")
        self._skips = response.skip_assignment
        if self._skips:
            self._assigned_of = None  # unknown, so it joins and assigns once more
        if len(self._members) > 1:
            self.world.count(Situation.REBALANCED)
        self._joined = not led_before
        if led_before:
            self._metadata_version ^= 3

    def _commit_late(self, member_id: str, number: int) -> None:
        """Sends a late commit of the previous generation."""
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
        self.send(request, 9, self._late_commit_response)

    def _late_commit_response(self, call: Call, response: Any) -> None:
        if response.topics[0].partitions[0].error_code == 0:
            raise Violation(f"{self.name} commits for a previous generation")

    def _dropped(self, code: int, what: str) -> None:
        if code == UNKNOWN_MEMBER:
            if self.instance_id is None:
                self.check_expired(what)
            self.reset_membership()
        elif code == FENCED:
            self.reset_membership()
        else:
            self._reset_generation()

    # ---- assigning

    def _sync(self) -> None:
        self._waiting = True
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
        self.send(request, 5 if self.version >= 7 else 3, self._sync_response)

    def _assigned(self) -> dict[str, bytes]:
        """Returns the assignment, computed once per generation."""
        if self._decided_in != self.number:
            self._decided_in, self._decided = self.number, self._shares()
            self._assigned_of = set(self._known)
            self.group.generation(self.number).assignments.append(self._decided)
        return self._decided

    def _shares(self) -> dict[str, bytes]:
        ids = sorted(self._members)
        shares: dict[str, set[tuple[str, int]]] = {one: set() for one in ids}
        for place, partition in enumerate(sorted(self._known)):
            shares[ids[place % len(ids)]].add(partition)
        if self.protocol == COOPERATIVE:
            owners = {p: one for one in ids for p in owned_in(self._members[one])}
            for one in ids:
                shares[one] = {p for p in shares[one] if owners.get(p, one) == one}
        return {one: assignment(by_topic(shares[one])) for one in ids}

    def _sync_response(self, call: Call, response: Any) -> None:
        code = response.error_code
        if code == 0:
            owned = assigned_in(response.assignment)
            self.group.assigned(
                call.message.generation_id, self.member_id, self.instance_id,
                response.assignment, owned,
            )  # fmt: skip
            self._synced = True
            revoked = self.protocol == COOPERATIVE and bool(self.owned - owned)
            self.owned = owned
            self.settled = not revoked
            self._next_heartbeat_ms = self.world.timeline.now + self.session_timeout_ms // 5
            if revoked:
                self.world.count(Situation.REVOKED_COOPERATIVELY)
                self._joined = False
        elif code in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            self._dropped(code, "SyncGroup")
        elif code not in LATER:
            raise Violation(f"{self.name}: SyncGroup failed with {code}")
        self.again(20 if code in LATER else 0)

    # ---- heartbeats and leaving

    def send_heartbeat(self) -> None:
        self._waiting = True
        is_over = self.group.is_over(self.number)
        is_fenced = self.member_id in self.group.fenced
        request = HeartbeatRequest(
            group_id=self.group.group_id,
            generation_id=self.number,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
        )
        self.send(
            request,
            4,
            lambda call, response: self._heartbeat_response(call, response, is_over, is_fenced),
        )

    def _heartbeat_response(
        self, call: Call, response: Any, is_over: bool, is_fenced: bool
    ) -> None:
        code = response.error_code
        if code == 0:
            if is_over or is_fenced:
                raise Violation(
                    f"{self.name} gets a heartbeat response without error in a previous generation"
                )
            self.accepted(call, min(self.session_timeout_ms, self.rebalance_timeout_ms))
            self._next_heartbeat_ms = self.world.timeline.now + self.session_timeout_ms // 5
        elif code in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            self._dropped(code, "Heartbeat")
        elif code not in LATER:
            raise Violation(f"{self.name}: Heartbeat failed with {code}")
        self.again(20 if code in LATER else 0)

    def not_a_member(self, code: int) -> None:
        if code == NO_GROUP:  # of an empty group that was removed, since version 9
            code = UNKNOWN_MEMBER
        if code not in (UNKNOWN_MEMBER, FENCED, ILLEGAL_GENERATION, REBALANCES):
            raise Violation(f"{self.name}: OffsetCommit failed with {code}")
        self._dropped(code, "OffsetCommit")

    def leave(self) -> None:
        self._waiting = True
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        self.member_until_ms = -1
        self.settled = self._synced = False  # also if no response comes
        request = LeaveGroupRequest(group_id=self.group.group_id, members=[identity])
        self.send(request, 4, self._left)

    def _left(self, call: Call, response: Any) -> None:
        if response.error_code == 0 and response.members[0].error_code == 0:
            self.world.count(Situation.LEFT)
        self.reset_membership()
        self.again(self.random.choice((0, 100)))

    def _rejoin_with_a_new_id(self) -> None:
        """Rejoins as a new process without a member id, which fences the old one."""
        old = self.member_id
        self.reset_membership()
        self._join()
        self._calls[-1].on_response = lambda call, response: self._rejoined(call, response, old)

    def _rejoined(self, call: Call, response: Any, old: str) -> None:
        if response.error_code == 0 and old and response.member_id != old:
            self.group.fenced.add(old)
            self._use_the_old_id(old, response.generation_id)
        self._join_response(call, response)

    def _use_the_old_id(self, old: str, number: int) -> None:
        request = HeartbeatRequest(
            group_id=self.group.group_id,
            generation_id=number,
            member_id=old,
            group_instance_id=self.instance_id,
        )
        self.send(request, 4, self._old_id_response)

    def _old_id_response(self, call: Call, response: Any) -> None:
        if response.error_code == 0:
            raise Violation(
                f"{call.message.member_id} is fenced, and gets a heartbeat response without error"
            )
        if response.error_code == FENCED:
            self.world.count(Situation.FENCED)
