"""Two brokers over one store: the coordinator of two groups moves between them, by a seed.

One group has classic members, the other members of the consumer protocol; both commit offsets. A
broker that loses a partition has lost what it has staged by then, and commits that are under way;
the other one learns later that it coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from application.ports.cluster_repository import WrittenTopic
from application.topics.create import NewTopic
from domain.cluster.nodes import Leader
from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from interfaces.kafka.wire.schema import Request
from tests.fakes.classic_requests import (
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from tests.fakes.offset_requests import at, commit_codes, found, offset_commit
from tests.fakes.structs import request_for
from tests.simulation.disk import Change
from tests.simulation.model import Violation
from tests.simulation.moving_leaders import BrokerOfTwo, Caller, MovingLeaders

CLASSIC, CONSUMER = "c", "d"
MEMBERS = 3
#: Of each member.
OFFSETS = 20
#: A classic member that leaves before a move is back after it, until its session ends.
SESSION_MS = 300
REBALANCE_MS = 60_000

LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCING, MEMBER_ID_REQUIRED = 22, 25, 27, 79
FENCED_EPOCH, STALE_EPOCH, GROUP_NOT_FOUND = 110, 113, 69
ELSEWHERE = {LOADING, NOT_AVAILABLE, NOT_COORDINATOR}


class Coordinator(BrokerOfTwo):
    """A commit fails with changes that were staged in an earlier session."""

    def __init__(self, world: TwoCoordinators, node_id: int) -> None:
        #: Rises when a partition is lost.
        self.session = 0
        self._oldest: int | None = None
        super().__init__(world, node_id, offsets_topic="on", group_min_session_timeout_ms="100")

    def lost_partition(self) -> None:
        self.session += 1

    def called(self) -> None:
        if self._oldest is None:
            self._oldest = self.session

    def fence(self, changes: list[Change]) -> Callable[[], bool]:
        session = self.session if self._oldest is None else self._oldest
        self._oldest = None
        return lambda: session != self.session

    def failed(self, under_way: list[Change], behind: list[Change]) -> None:
        super().failed(under_way, behind)
        self._oldest = None


class Member(Caller):
    """Looks for its coordinator."""

    goal = OFFSETS

    def __init__(self, world: TwoCoordinators, group_id: str, number: int) -> None:
        super().__init__(world)
        self.world = world
        self.group_id = group_id
        self.number = number
        self.node_id: int | None = None
        self._then: Callable[[Any], None] = lambda _: None
        self._may_be_lost = False
        self.sent = 0

    def _send(self) -> None:
        if self.node_id is None:
            request = request_for("find_coordinator", coordinator_keys=[self.group_id])
            self.send(self.random.choice((1, 2)), request, 4, self._found)
        else:
            self.act(self.node_id)

    def _receive(self, response: Any) -> None:
        if self._may_be_lost and self.random.random() < 0.1:
            self.node_id = None  # the connection has ended with it
        else:
            self._then(response)

    def send(
        self,
        node_id: int,
        request: Request,
        version: int,
        then: Callable[[Any], None],
        may_be_lost: bool = False,
    ) -> None:
        self._pending = self.lines[node_id]
        self._then = then
        self._may_be_lost = may_be_lost
        self._pending.send(request, version)

    def _found(self, response: Any) -> None:
        [coordinator] = response.coordinators
        self.node_id = None if coordinator.error_code else coordinator.node_id

    def act(self, node_id: int) -> None:
        raise NotImplementedError

    def refused(self, code: int) -> None:
        """Of a request as a member."""
        raise NotImplementedError

    def is_elsewhere(self, code: int) -> bool:
        if code in ELSEWHERE:
            self.node_id = None
        return code in ELSEWHERE

    # ---- offsets: each member has a partition of its own

    def commit(self, node_id: int, **member: Any) -> None:
        self.sent = self.done + 1
        request = offset_commit(self.group_id, ("t", [at(self.number, self.sent)]), **member)
        self.send(node_id, request, 9, self._committed, may_be_lost=True)

    def _committed(self, response: Any) -> None:
        [[(_, code)]] = commit_codes(response, 9).values()
        if code == 0:
            self.done = self.sent
        elif not self.is_elsewhere(code):
            self.refused(code)

    def fetch(self, node_id: int) -> None:
        group = {"group_id": self.group_id, "topics": None, "member_id": None, "member_epoch": -1}
        request = request_for("offset_fetch", groups=[group])
        self.send(node_id, request, 9, self._fetched, may_be_lost=True)

    def _fetched(self, response: Any) -> None:
        [group] = response.groups
        if self.is_elsewhere(group.error_code):
            return
        offsets = found(group).get("t", {})
        offset = offsets[self.number][0] if self.number in offsets else 0
        if offset not in (self.done, self.sent):
            raise Violation(f"{self.done} was committed, {self.sent} sent, {offset} is fetched")
        self.done = offset  # a response was lost


class ClassicMember(Member):
    member_id = ""
    generation = -1
    #: Of the generation; None: it is to be requested.
    assignment: bytes | None = None
    joins = True
    members: tuple[str, ...] = ()

    def act(self, node_id: int) -> None:
        chance = self.random.random()
        if self.joins:
            request: Request = join_request(
                self.member_id, self.group_id, session_ms=SESSION_MS, rebalance_ms=REBALANCE_MS
            )
            self.send(node_id, request, 9, self._joined)
        elif self.assignment is None:
            shares = {one: _share(self.generation, one) for one in self.members}
            request = sync_request(self.generation, self.member_id, shares, self.group_id)
            self.send(node_id, request, 5, self._synced)
        elif chance < 0.3:
            self.commit(
                node_id, member_id=self.member_id, generation_id_or_member_epoch=self.generation
            )
        elif chance < 0.5:
            self.fetch(node_id)
        elif chance < 0.52:
            leaving = leave_request((self.member_id, None), group_id=self.group_id)
            self.send(node_id, leaving, 5, self._left)
        else:
            request = heartbeat_request(self.generation, self.member_id, self.group_id)
            self.send(node_id, request, 4, self._beat, may_be_lost=True)

    def _joined(self, response: Any) -> None:
        if response.error_code == MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
        elif response.error_code:
            if not self.is_elsewhere(response.error_code):
                self.refused(response.error_code)
        else:
            if response.generation_id < self.generation:
                raise Violation(f"generation {response.generation_id} after {self.generation}")
            self.generation, self.member_id = response.generation_id, response.member_id
            self.members = tuple(sorted(one.member_id for one in response.members))
            self.world.joined(self.generation, response.leader, self.members)
            self.joins, self.assignment = False, None

    def _synced(self, response: Any) -> None:
        if not response.error_code:
            self.assignment = bytes(response.assignment)
            if self.assignment != _share(self.generation, self.member_id):
                raise Violation(f"generation {self.generation} assigns {self.assignment!r}")
        elif not self.is_elsewhere(response.error_code):
            self.refused(response.error_code)

    def _beat(self, response: Any) -> None:
        if response.error_code and not self.is_elsewhere(response.error_code):
            self.refused(response.error_code)

    def _left(self, response: Any) -> None:
        code = response.error_code or response.members[0].error_code
        if not self.is_elsewhere(code):
            self.member_id, self.joins = "", True

    def refused(self, code: int) -> None:
        if code not in (ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCING):
            raise Violation(f"a member is refused: {code}")
        if code == UNKNOWN_MEMBER:
            self.member_id = ""
        self.joins = True


def _share(generation: int, member_id: str) -> bytes:
    return f"{generation} {member_id}".encode()


class ConsumerMember(Member):
    epoch = 0

    def __init__(self, world: TwoCoordinators, group_id: str, number: int) -> None:
        super().__init__(world, group_id, number)
        self.owned: frozenset[int] = frozenset()

    def act(self, node_id: int) -> None:
        chance = self.random.random()
        member_id = f"m{self.number}"
        if self.epoch and chance < 0.3:
            self.commit(node_id, member_id=member_id, generation_id_or_member_epoch=self.epoch)
        elif self.epoch and chance < 0.5:
            self.fetch(node_id)
        else:
            if self.epoch and chance < 0.52:
                self.epoch, self.owned = -1, frozenset()  # leaves
            topic = {"topic_id": self.world.topic_id, "partitions": sorted(self.owned)}
            request = request_for(
                "consumer_group_heartbeat",
                group_id=self.group_id,
                member_id=member_id,
                member_epoch=self.epoch,
                rebalance_timeout_ms=REBALANCE_MS,
                subscribed_topic_names=["t"],
                topic_partitions=[topic] if self.owned else [],
            )
            self.send(node_id, request, 1, self._beat, may_be_lost=True)

    def _beat(self, response: Any) -> None:
        if response.error_code:
            if not self.is_elsewhere(response.error_code):
                self.refused(response.error_code)
            return
        if response.member_epoch < self.epoch:
            raise Violation(f"member epoch {response.member_epoch} after {self.epoch}")
        self.epoch = max(response.member_epoch, 0)
        if response.assignment is not None:
            topics = response.assignment.topic_partitions
            self.owned = frozenset(one for topic in topics for one in topic.partitions)
        for other in self.world.consumers:
            if other is not self and other.owned & self.owned:
                raise Violation(f"{other.owned & self.owned} have two owners")

    def refused(self, code: int) -> None:
        if code not in (UNKNOWN_MEMBER, FENCED_EPOCH, STALE_EPOCH, GROUP_NOT_FOUND):
            raise Violation(f"a member is refused: {code}")
        if code != STALE_EPOCH:
            self.epoch, self.owned = 0, frozenset()


class TwoCoordinators(MovingLeaders):
    moves_below, learns_below, time_below = 0.003, 0.04, 0.55
    times_ms = (2, 20)
    patience_steps = 40_000

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        first = Coordinator(self, 1)
        self.topic_id = first.topic("t", MEMBERS).topic_id
        first.core.cluster_changes.check()
        topic = first.broker.topics.create_topics.create_internal(NewTopic(OFFSETS_TOPIC, 2))
        written = WrittenTopic(topic.topic_id, complete=True)
        first.core.cluster.save_internal_topic(OFFSETS_TOPIC, written)
        first.run()
        self.partition_ids = [topic.partition_ids[partition_of(one, 2)] for one in "cd"]
        self.truth |= dict.fromkeys(
            (*first.existing().partition_ids, *self.partition_ids), Leader(1, 0)
        )
        self.brokers = {1: first, 2: Coordinator(self, 2)}
        #: Leader and members of the generations of the classic group.
        self.generations: dict[int, tuple[str, tuple[str, ...]]] = {}
        self.consumers = [ConsumerMember(self, CONSUMER, one) for one in range(MEMBERS)]
        classic = [ClassicMember(self, CLASSIC, one) for one in range(MEMBERS)]
        self.callers = [*classic, *self.consumers]

    def joined(self, generation: int, leader: str, members: tuple[str, ...]) -> None:
        """Only the leader gets the members."""
        self.happened["generations of the classic group"] += generation not in self.generations
        known_leader, known_members = self.generations.get(generation, (leader, ()))
        if leader != known_leader or (members and known_members not in ((), members)):
            raise Violation(f"there are two generations {generation}")
        self.generations[generation] = leader, members or known_members
