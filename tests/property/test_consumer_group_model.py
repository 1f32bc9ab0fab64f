"""Members, correct and faulty ones, of a consumer group over the real service.

Each member owns its assignment, revokes other partitions, reports its partitions in the next
heartbeat, and rejoins when it is fenced. Responses get lost, heartbeats come twice, members vanish,
commits fail, the broker restarts, topics are created, extended and deleted.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from application.ports.pending import Pending
from application.topics.partitions import MorePartitions
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    FencedMemberEpoch,
    GroupIdNotFound,
    UnknownMemberId,
    UnreleasedInstanceId,
)
from domain.groups.consumer.assignors.assignor import Partitions
from domain.groups.consumer.group import ConsumerGroup
from domain.groups.consumer.heartbeat import HeartbeatResult
from domain.groups.consumer.heartbeat_request import Heartbeat
from domain.groups.consumer.member import (
    all_partitions,
    is_within,
)
from domain.groups.consumer.subscription import subscribed_topics
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from tests.fakes.broker import FakeBroker

SESSION_MS = 45_000
REBALANCE_MS = 30_000
TOPICS = ["ta", "tb", "u"]

wishes = st.one_of(
    st.frozensets(st.sampled_from(TOPICS)).map(lambda names: {"topics": names, "regex": ""}),
    st.sampled_from(["t.", ".*"]).map(lambda regex: {"topics": frozenset(), "regex": regex}),
)


class Member:
    def __init__(self, member_id: str, instance_id: str | None, wish: dict[str, Any]) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.wish = wish
        self.epoch = 0
        #: Its assignment, and the partitions it owns.
        self.assigned: Partitions = {}
        self.owned: Partitions = {}
        #: It must send all fields: it is new, or a response was lost.
        self.says_all = True
        self.is_away = False

    def heartbeat(self) -> Heartbeat:
        all_of_it: dict[str, Any] = {"owned": self.owned}
        if self.says_all:
            all_of_it |= self.wish | {"rebalance_timeout_ms": REBALANCE_MS}
        return Heartbeat(self.member_id, self.epoch, self.instance_id, **all_of_it)

    def received(self, response: HeartbeatResult) -> None:
        assert response.epoch >= self.epoch, "a member's epoch goes back"
        self.epoch = response.epoch
        self.says_all = False
        if response.assignment is not None:
            self.assigned = response.assignment

    def refused(self, refusal: BrokerError) -> None:
        if isinstance(refusal, CoordinatorNotAvailable):
            self.says_all = True
            return
        fenced = (FencedMemberEpoch, UnknownMemberId, GroupIdNotFound, UnreleasedInstanceId)
        assert isinstance(refusal, fenced), repr(refusal)
        self.begin_anew()

    def begin_anew(self) -> None:
        self.epoch = 0
        self.assigned = self.owned = {}
        self.says_all = True


class ModernGroupModel(RuleBasedStateMachine):
    members = Bundle("members")

    def __init__(self) -> None:
        super().__init__()
        self.broker = FakeBroker()
        self.active: dict[str, Member] = {}
        self.next_id = 0
        self.epochs = (0, 0)

    # members

    def group(self) -> ConsumerGroup | None:
        found = self.broker.broker.groups.registry.find("g")
        return found if isinstance(found, ConsumerGroup) else None

    def send(self, heartbeat: Heartbeat) -> HeartbeatResult | BrokerError:
        try:
            response = self.broker.broker.groups.coordinator.consumer_group_heartbeat(
                "g", heartbeat, True
            )
        except BrokerError as refusal:
            return refusal
        if isinstance(response, Pending):
            late: list[HeartbeatResult | BrokerError] = []
            response.then(late.append)
            self.broker.run()
            [one] = late
            return one
        return response

    def tell(self, member: Member, is_lost: bool = False, twice: bool = False) -> None:
        heartbeat = member.heartbeat()
        response = self.send(heartbeat)
        if twice:
            # The first response is lost, so the second one may be incomplete.
            response = self.send(heartbeat)
        if is_lost or twice:
            # The assignment may have changed: it is sent again.
            member.assigned = member.owned
            member.says_all = True
        if is_lost:
            return
        if isinstance(response, BrokerError):
            member.refused(response)
        else:
            member.received(response)
        member.says_all |= twice

    def enter(self, member: Member) -> Member:
        self.active[member.member_id] = member
        self.tell(member)
        return member

    @initialize()
    def topics(self) -> None:
        self.broker.topic("ta", 2)
        self.broker.topic("tb", 3)

    @rule(target=members, wish=wishes)
    def join(self, wish: dict[str, Any]) -> Member:
        self.next_id += 1
        return self.enter(Member(f"m{self.next_id}", None, wish))

    @rule(target=members, wish=wishes, instance_id=st.sampled_from(["i", "j"]))
    def join_static(self, wish: dict[str, Any], instance_id: str) -> Member:
        return self.join_under(wish, instance_id)

    def join_under(self, wish: dict[str, Any], instance_id: str) -> Member:
        """The previous one has left, or the new one waits until it leaves."""
        self.next_id += 1
        before = self.of_instance(instance_id)
        member = Member(f"s{self.next_id}", instance_id, wish)
        if before is not None and before.is_away:
            member.wish = before.wish
            del self.active[before.member_id]
        elif before is not None:
            return before
        return self.enter(member)

    def of_instance(self, instance_id: str) -> Member | None:
        return next((one for one in self.active.values() if one.instance_id == instance_id), None)

    def is_at_work(self, member: Member) -> bool:
        return member.member_id in self.active and not member.is_away

    @rule(member=members, is_lost=st.booleans(), twice=st.booleans())
    def beat(self, member: Member, is_lost: bool, twice: bool) -> None:
        if self.is_at_work(member):
            self.tell(member, is_lost, twice)

    @rule(member=members)
    def work(self, member: Member) -> None:
        """It revokes and takes partitions as assigned."""
        member.owned = member.assigned

    @rule(member=members, wish=wishes)
    def change_its_mind(self, member: Member, wish: dict[str, Any]) -> None:
        if self.is_at_work(member):
            member.wish = wish
            member.says_all = True
            self.tell(member)

    @rule(member=consumes(members))
    def leave(self, member: Member) -> None:
        if self.is_at_work(member):
            member.owned = {}
            self.go(member, -1)

    @rule(member=members)
    def leave_static(self, member: Member) -> None:
        if self.is_at_work(member) and member.instance_id is not None:
            member.owned = {}
            response = self.send(Heartbeat(member.member_id, -2, member.instance_id))
            if isinstance(response, CoordinatorNotAvailable):
                member.says_all = True
            elif isinstance(response, BrokerError):
                member.begin_anew()
            else:
                member.is_away = True

    def go(self, member: Member, epoch: int) -> None:
        """With any response: without the request, the session times out."""
        self.send(Heartbeat(member.member_id, epoch, member.instance_id))
        del self.active[member.member_id]

    @rule(member=consumes(members))
    def fall_silent(self, member: Member) -> None:
        self.active.pop(member.member_id, None)

    # other events

    @rule(seconds=st.sampled_from([1, 5, 20]))
    def wait(self, seconds: int) -> None:
        self.broker.scheduler.advance(seconds * 1000)

    @rule(name=st.sampled_from(TOPICS), partitions=st.integers(1, 4))
    def create_or_grow(self, name: str, partitions: int) -> None:
        self.broker.commit.failures.clear()
        topic = self.broker.broker.catalog.topic(name)
        if topic is None:
            self.broker.topic(name, partitions)
        elif len(topic.partition_ids) < 6:
            more = MorePartitions(name, len(topic.partition_ids) + 1, None)
            self.broker.broker.topics.create_partitions.grow([more], validate_only=False)
            self.broker.run()

    @rule(name=st.sampled_from(TOPICS))
    def delete(self, name: str) -> None:
        topic = self.broker.broker.catalog.topic(name)
        if topic is not None:
            self.broker.broker.topics.delete_topics.delete([topic])
            self.broker.run()

    @rule()
    def fail_a_commit(self) -> None:
        if not self.broker.commit.failures:
            self.broker.commit.fail_next()

    @rule()
    def restart(self) -> None:
        self.broker.commit.failures.clear()
        self.broker.run()
        self.broker.broker.stop_upkeep()
        self.broker = self.broker.restarted()
        self.broker.broker.start_upkeep()

    # invariants

    @invariant()
    def owned_partitions_are_those_of_the_broker(self) -> None:
        """So no partition has two owners, because the broker has one for each."""
        group = self.group()
        if group is None:
            return
        for member in self.active.values():
            if member.member_id in group.members and not member.is_away:
                current = group.current(member.member_id)
                its_own = all_partitions(current.assigned, current.revoking)
                assert is_within(member.owned, its_own), member.member_id

    @invariant()
    def epochs_only_rise(self) -> None:
        group = self.group()
        if group is None:
            assert self.epochs == (0, 0)
            return
        assert (group.epoch, group.target_epoch) >= self.epochs
        assert group.epoch >= group.target_epoch
        assert all(one.epoch <= group.target_epoch for one in group.currents.values())
        self.epochs = (group.epoch, group.target_epoch)

    @precondition(lambda self: self.active)
    @rule()
    def come_to_rest(self) -> None:
        """Active members acknowledge their assignments; others time out."""
        self.broker.commit.failures.clear()
        self.active = {key: one for key, one in self.active.items() if not one.is_away}
        for _ in range(12):
            for _ in range(4):
                for member in self.active.values():
                    self.tell(member)
                    self.work(member)
            self.broker.scheduler.advance(SESSION_MS // 5)
        group = self.group()
        if group is None:
            assert not self.active
            return
        assert set(group.members) == set(self.active)
        if self.active:
            assert group.state_name == "Stable"
        self.check_assignment(group)
        self.check_nothing_is_left()

    def check_assignment(self, group: ConsumerGroup) -> None:
        catalog = self.broker.broker.catalog
        given = []
        expected = set()
        for member in self.active.values():
            known = group.members[member.member_id]
            assert member.owned == group.target(member.member_id)
            given += [(topic, one) for topic, ones in member.owned.items() for one in ones]
            for topic in subscribed_topics(known, group.regexes, catalog).values():
                expected |= {(topic.topic_id, one) for one in range(len(topic.partition_ids))}
        assert len(given) == len(set(given)), "a partition has two owners"
        assert set(given) == expected, "a partition of a subscribed topic has none"

    def check_nothing_is_left(self) -> None:
        repository = StoredGroupRepository(MemoryStateStore(self.broker.store))
        persisted = {getattr(change, "member_id", None) for change in repository.load("g")}
        assert persisted - {None} == set(self.active)

    def teardown(self) -> None:
        if self.active:
            self.come_to_rest()


def test_members_reach_the_target_assignment_and_no_partition_has_two_owners() -> None:
    run_state_machine_as_test(
        ModernGroupModel,
        settings=settings(
            max_examples=30,
            stateful_step_count=40,
            deadline=None,
            report_multiple_bugs=False,
        ),
    )
