"""Members of both protocols in one group, which is upgraded and downgraded.

Beside the consumers of test_consumer_group_model.py there are members of the classic protocol:
they join, lead while the group is classic, own their last assignment, and change their protocol.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    consumes,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    FencedInstanceId,
    MemberIdRequired,
    UnknownMemberId,
)
from domain.groups.classic.changes import JoinResponse, SyncResponse
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.states import State
from domain.groups.classic.sync import SyncRequest
from domain.groups.consumer.member import all_partitions
from domain.groups.consumer.subscription import subscribed_topics
from domain.topics.topic import Topic
from tests.fakes.consumer_protocol import (
    assigned_in,
    assignment,
    by_topic,
    owned_in,
    subscription,
)
from tests.property.test_consumer_group_model import (
    REBALANCE_MS,
    SESSION_MS,
    TOPICS,
    Member,
    ModernGroupModel,
    wishes,
)

Places = set[tuple[str, int]]


class Classic:
    """A consumer of the classic protocol: eager, or cooperative."""

    def __init__(self, instance_id: str | None, topics: frozenset[str], is_eager: bool) -> None:
        self.instance_id = instance_id
        self.topics = topics
        self.is_eager = is_eager
        self.waits: Pending[Any] | None = None
        self.owned: Places = set()
        #: An unknown topic: a new subscription makes all others rejoin.
        self.more: frozenset[str] = frozenset()
        self.forget()

    def forget(self) -> None:
        self.member_id = ""
        self.generation = -1
        #: The subscriptions and owned partitions of the members that it leads.
        self.led: dict[str, bytes] = {}
        self.owned = set()
        self.has_joined = self.works = False

    def refused(self, error: BrokerError) -> None:
        self.has_joined = self.works = False
        if self.is_eager:
            self.owned = set()
        if isinstance(error, (UnknownMemberId, FencedInstanceId)):
            self.forget()

    def disconnected(self) -> None:
        """The pending request is lost."""
        if self.waits is not None:
            self.waits.abandon()
            self.waits = None
            self.has_joined = self.works = False


class MixedGroupModel(ModernGroupModel):
    classics = Bundle("classics")

    def __init__(self) -> None:
        super().__init__()
        self.classic: list[Classic] = []
        self.number = 0
        self.begins_anew = True

    # ---- members of the classic protocol

    @property
    def service(self) -> Any:
        return self.broker.broker.groups.coordinator

    def request(self, member: Classic, request: Any, then: Any) -> None:
        try:
            response = request()
        except BrokerError as refusal:
            member.refused(refusal)
            return
        if not isinstance(response, Pending):
            then(member, response)
            return
        member.waits = response

        def completed(value: Any) -> None:
            member.waits = None
            error = value if isinstance(value, BrokerError) else getattr(value, "error", None)
            if error is None or isinstance(error, MemberIdRequired):
                then(member, value)
            else:
                member.refused(error)

        response.then(completed)
        self.broker.run()

    def step(self, member: Classic) -> None:
        """The next request of its protocol."""
        if member.waits is not None:
            return
        if not member.has_joined:
            self.request(
                member, lambda: self.service.join_group(self.join_request(member)), self.joined
            )
        elif not member.works:
            shares = self.shares(member.led) if member.led else {}
            fields = ("g", member.generation, member.member_id, member.instance_id)
            request = SyncRequest(*fields, "consumer", "range", shares)
            self.request(member, lambda: self.service.sync_group(request), self.synced)
        else:
            who = (member.member_id, member.instance_id, member.generation)
            self.request(member, lambda: self.service.heartbeat("g", *who), lambda *_: None)

    def join_request(self, member: Classic) -> JoinRequest:
        owned = by_topic(set() if member.is_eager else member.owned)
        metadata = subscription(*sorted(member.topics | member.more), owned=owned)
        return JoinRequest(
            *("g", member.member_id, member.instance_id, "c", "/h", SESSION_MS, REBALANCE_MS),
            *("consumer", (("range", metadata),)),
        )

    def joined(self, member: Classic, response: JoinResponse) -> None:
        member.member_id = response.member_id
        if response.error is not None:
            return
        member.generation = response.generation_id
        member.led = {member_id: metadata for member_id, _, metadata in response.members}
        member.has_joined = True
        if member.is_eager:
            member.owned = set()

    def shares(self, led: dict[str, bytes]) -> dict[str, bytes]:
        """Assigns no partition that another member reports as owned."""
        wishes = {one.member_id: self.places(one.topics) for one in self.classic}
        owned = {member_id: owned_in(data) for member_id, data in led.items()}
        taken = set[tuple[str, int]]().union(*owned.values())
        given = {one: owned[one] & wishes.get(one, set()) for one in sorted(led)}
        free = set[tuple[str, int]]().union(*wishes.values()) - taken
        for number, place in enumerate(sorted(free)):
            readers = [one for one in given if place in wishes.get(one, ())]
            if readers:
                given[readers[number % len(readers)]].add(place)
        return {member_id: assignment(by_topic(places)) for member_id, places in given.items()}

    def places(self, topics: frozenset[str]) -> Places:
        found = [self.broker.broker.catalog.topic(name) for name in topics]
        return {(one.name, n) for one in found if one for n in range(len(one.partition_ids))}

    def synced(self, member: Classic, response: SyncResponse) -> None:
        has = assigned_in(response.assignment)
        gave_up = not member.is_eager and bool(member.owned - has)
        member.owned = has
        member.works = True
        if gave_up:
            member.has_joined = member.works = False

    @rule(target=classics, topics=st.frozensets(st.sampled_from(TOPICS)), is_eager=st.booleans())
    def come(self, topics: frozenset[str], is_eager: bool) -> Classic:
        member = Classic(None, topics, is_eager)
        self.classic.append(member)
        self.step(member)
        return member

    @rule(member=classics, times=st.integers(1, 4))
    def go_on(self, member: Classic, times: int) -> None:
        for _ in range(times):
            if member in self.classic:
                self.step(member)

    @rule(times=st.integers(1, 4))
    def all_go_on(self, times: int) -> None:
        for _ in range(times):
            for member in self.classic:
                self.step(member)
            for one in self.active.values():
                if not one.is_away:
                    self.tell(one)
                    self.work(one)

    @rule(member=classics, topics=st.frozensets(st.sampled_from(TOPICS)))
    def want_something_else(self, member: Classic, topics: frozenset[str]) -> None:
        member.topics = topics
        if member.waits is None:
            member.has_joined = member.works = False

    def look_at_topics(self, member: Classic) -> None:
        """Partitions may have been added: the leader rejoins."""
        member.more ^= {"nowhere"}
        if member.waits is None:
            member.has_joined = member.works = False

    @rule(member=classics)
    def lose_a_connection(self, member: Classic) -> None:
        member.disconnected()

    @rule(member=consumes(classics))
    def go_away(self, member: Classic) -> None:
        if member in self.classic and member.member_id:
            member.disconnected()
            self.service.leave_group("g", [LeavingMember(member.member_id, member.instance_id)])
            self.broker.run()
        self.vanish(member)

    @rule(member=consumes(classics))
    def hang(self, member: Classic) -> None:
        self.vanish(member)

    def vanish(self, member: Classic) -> None:
        member.disconnected()
        if member in self.classic:
            self.classic.remove(member)

    # ---- changes of the protocol

    @rule(target=classics, member=consumes(ModernGroupModel.members), is_eager=st.booleans())
    def come_back_as_a_classic_one(self, member: Member, is_eager: bool) -> Classic:
        """A static member at once; others leave, and new ones join."""
        topics = member.wish["topics"] or frozenset(TOPICS)
        instance_id = member.instance_id if member.member_id in self.active else None
        if self.is_at_work(member) and instance_id is None:
            self.go(member, -1)
        self.active.pop(member.member_id, None)
        self.begins_anew |= self.is_empty
        classic = Classic(instance_id, topics, is_eager)
        self.classic.append(classic)
        self.step(classic)
        return classic

    @rule(target=ModernGroupModel.members, member=consumes(classics))
    def come_back_as_a_modern_one(self, member: Classic) -> Member:
        if member.instance_id is None and member in self.classic and member.member_id:
            self.service.leave_group("g", [LeavingMember(member.member_id, None)])
            self.broker.run()
        self.vanish(member)
        self.begins_anew |= self.is_empty
        self.next_id += 1
        wish = {"topics": member.topics, "regex": ""}
        return self.enter(Member(f"u{self.next_id}", member.instance_id, wish))

    @rule(target=ModernGroupModel.members, wish=wishes, instance_id=st.sampled_from(["i", "j"]))
    def join_static(self, wish: dict[str, Any], instance_id: str) -> Member:
        if any(one.instance_id == instance_id for one in self.classic):
            return Member("not there", None, wish)
        return self.join_under(wish, instance_id)

    @rule(name=st.sampled_from(TOPICS))
    def delete(self, name: str) -> None:
        """Classic members own partitions by name, which a new topic would have too."""
        super().delete(name)
        for member in self.classic:
            member.owned = {place for place in member.owned if place[0] != name}

    @rule()
    def restart(self) -> None:
        super().restart()
        for member in self.classic:
            member.disconnected()

    # ---- invariants

    @invariant()
    def classic_members_have_what_the_broker_knows_of(self) -> None:
        group = self.group()
        if group is None:
            return
        names = {one.topic_id: one.name for one in self.topics_there()}
        for member in self.classic:
            current = group.currents.get(member.member_id)
            if current is None or not member.works or member.generation != current.epoch:
                continue
            book = all_partitions(current.assigned, current.revoking)
            known = {(names.get(topic_id), n) for topic_id, ones in book.items() for n in ones}
            assert member.owned & self.places(frozenset(TOPICS)) <= known, member.member_id

    @invariant()
    def epochs_only_rise(self) -> None:
        """Also across upgrades; an empty group can start again as the other kind."""
        found = self.broker.broker.groups.registry.find("g")
        number = 0
        if isinstance(found, ClassicGroup):
            number = found.generation_id
        elif self.group() is not None:
            number = self.group().epoch
        assert number >= self.number or self.begins_anew
        self.number = number
        self.begins_anew = self.is_empty

    @property
    def is_empty(self) -> bool:
        found = self.broker.broker.groups.registry.find("g")
        return found is None or found.is_empty

    @precondition(lambda self: self.active or self.classic)
    @rule()
    def come_to_rest(self) -> None:
        """Active members acknowledge their assignments; others time out."""
        self.broker.commit.failures.clear()
        self.active = {key: one for key, one in self.active.items() if not one.is_away}
        for member in self.classic:
            self.look_at_topics(member)
        for _ in range(12):
            for _ in range(6):
                self.all_go_on(1)
            self.broker.scheduler.advance(SESSION_MS // 5)
        for _ in range(6):
            self.all_go_on(1)
        self.begins_anew = True
        found = self.broker.broker.groups.registry.find("g")
        assert found is not None or not (self.active or self.classic)
        assert all(one.works for one in self.classic)
        if isinstance(found, ClassicGroup):
            assert not self.active
            assert found.state is (State.STABLE if self.classic else State.EMPTY)
            assert set(found.members) == {one.member_id for one in self.classic}
        self.check_shares()

    def check_shares(self) -> None:
        group = self.group()
        given: list[tuple[str, int]] = []
        expected: Places = set()
        names = {one.topic_id: one.name for one in self.topics_there()}
        for classic in self.classic:
            given += sorted(classic.owned & self.places(frozenset(TOPICS)))
            expected |= self.places(classic.topics)
        if group is not None:
            here = {one.member_id for one in self.classic}
            assert set(group.members) == set(self.active) | here
            assert group.state_name == ("Stable" if group.members else "Empty")
            for member in self.active.values():
                assert member.owned == group.target(member.member_id)
                topics = subscribed_topics(
                    group.members[member.member_id], group.regexes, self.broker.broker.catalog
                )
                expected |= self.places(frozenset(one.name for one in topics.values()))
                given += [(names[t], n) for t, ones in member.owned.items() for n in ones]
        assert len(given) == len(set(given)), "a partition has two owners"
        assert set(given) == expected, "a partition of a subscribed topic has none"

    def topics_there(self) -> list[Topic]:
        found = [self.broker.broker.catalog.topic(name) for name in TOPICS]
        return [one for one in found if one is not None]

    def teardown(self) -> None:
        if self.active or self.classic:
            self.come_to_rest()


def test_members_of_both_protocols_share_the_partitions_across_upgrades_and_downgrades() -> None:
    run_state_machine_as_test(
        MixedGroupModel,
        settings=settings(
            max_examples=30,
            stateful_step_count=40,
            deadline=None,
            report_multiple_bugs=False,
        ),
    )
