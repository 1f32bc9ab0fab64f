"""Clients of a classic group, correct and faulty ones, against the promises of the protocol.

They join, sync, send heartbeats, leave, disconnect, return with their instance id, repeat requests;
commits are slow or fail; time passes; the broker restarts.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from application.groups.coordinator import GroupCoordinator
from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    FencedInstanceId,
    GroupMaxSizeReached,
    MemberIdRequired,
    UnknownMemberId,
)
from domain.groups.classic.changes import GroupMetadataChanged, Image, JoinResponse, SyncResponse
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.states import State
from domain.groups.classic.sync import SyncRequest
from tests.fakes.broker import FakeBroker

MAX_SIZE = 4
#: Longer than any timeout.
EVERYTHING_MS = 1_000_000
#: After these errors a client rejoins without a member id.
ENDS = (UnknownMemberId, FencedInstanceId, GroupMaxSizeReached)


class Client:
    """Its state is that of its last response."""

    def __init__(self, number: int) -> None:
        self.instance_id = f"instance-{number}" if number < 2 else None
        self.session_ms = (6000, 10_000)[number % 2]
        self.rebalance_ms = (8000, 60_000, 20_000)[number % 3]
        self.may_skip = number % 2 == 0
        self.version = 0
        self.forget()
        self.former: set[str] = set()
        #: Pending requests; of one connection there is one.
        self.requests: list[Pending[Any]] = []

    def forget(self) -> None:
        self.member_id = ""
        self.generation_id = -1
        self.leads: list[str] = []
        self.has_joined = self.works = False

    def refused(self, error: BrokerError) -> None:
        self.has_joined = self.works = False
        if isinstance(error, ENDS):
            self.forget()


class ClassicGroupMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clients = [Client(number) for number in range(5)]
        #: All pending requests of this broker.
        self.requests: list[Pending[Any]] = []
        self.highest = 0
        #: By generation: assignments, and the dynamic members that the leader got.
        self.shares: dict[int, dict[str, Client]] = {}
        self.lists: dict[int, set[str]] = {}
        self.strays = 0

    @initialize(
        delay_ms=st.sampled_from([0, 3000]), hasty_ms=st.sampled_from([None, None, -1, 0, 1])
    )
    def begin(self, delay_ms: int, hasty_ms: int | None) -> None:
        """`hasty_ms`: the rebalance timeout of some members, too short to join."""
        for client in self.clients[1::2]:
            client.rebalance_ms = client.rebalance_ms if hasty_ms is None else hasty_ms
        self.fake = FakeBroker(
            group_max_size=str(MAX_SIZE), group_initial_rebalance_delay_ms=str(delay_ms)
        )

    @property
    def service(self) -> GroupCoordinator:
        return self.fake.broker.groups.coordinator

    @property
    def group(self) -> ClassicGroup | None:
        found = self.fake.broker.groups.registry.find("g")
        assert found is None or isinstance(found, ClassicGroup)
        return found

    # ---- requests

    def request(self, client: Client, request: Pending[Any], then: Any) -> None:
        client.requests.append(request)
        self.requests.append(request)

        def completed(response: Any) -> None:
            client.requests = [one for one in client.requests if one is not request]
            then(client, response)

        request.then(completed)

    def join(self, client: Client) -> None:
        protocols = (("range", b"%d" % client.version), ("sticky", b""))
        request = JoinRequest(
            *("g", client.member_id, client.instance_id, "c", "/h"),
            *(client.session_ms, client.rebalance_ms, "consumer", protocols),
            *(True, client.may_skip),
        )
        try:
            self.request(client, self.service.join_group(request), self.joined)
        except BrokerError as refusal:
            client.refused(refusal)

    def joined(self, client: Client, response: JoinResponse | BrokerError) -> None:
        if isinstance(response, BrokerError):
            client.refused(response)
        elif isinstance(response.error, MemberIdRequired):
            client.member_id = response.member_id
        elif response.error is not None:
            client.refused(response.error)
        else:
            self.placed(client, response)

    def placed(self, client: Client, response: JoinResponse) -> None:
        assert response.generation_id >= self.highest, "a generation came back"
        self.highest = response.generation_id
        client.member_id = response.member_id
        client.former.add(response.member_id)
        client.generation_id = response.generation_id
        client.leads = [member_id for member_id, _, _ in response.members]
        client.has_joined, client.works = True, False
        persisted = self.persisted
        assert persisted.generation_id >= response.generation_id, "a response before its commit"
        if persisted.generation_id == response.generation_id:
            # A static member that joins twice is replaced, perhaps in the same commit.
            known = {one.member_id for one in persisted.members}
            static = {one.instance_id for one in persisted.members} - {None}
            assert response.member_id in known or client.instance_id in static
        if client.leads:
            assert {response.leader, response.member_id} <= set(client.leads)
            dynamic = {one for one in client.leads if one.startswith("c-")}
            assert self.lists.setdefault(response.generation_id, dynamic) == dynamic
        if response.skip_assignment:
            client.leads = []

    def sync(self, client: Client) -> None:
        generation_id = client.generation_id
        shares = {one: f"{generation_id}/{one}".encode() for one in client.leads}
        request = SyncRequest(
            *("g", generation_id, client.member_id, client.instance_id),
            *("consumer", "range", shares),
        )
        try:
            self.request(client, self.service.sync_group(request), self.synced)
        except BrokerError as refusal:
            client.refused(refusal)

    def synced(self, client: Client, response: SyncResponse | BrokerError) -> None:
        if isinstance(response, BrokerError):
            client.refused(response)
        elif response.error is not None:
            client.refused(response.error)
        else:
            generation_id, _, member_id = response.assignment.decode().partition("/")
            assert int(generation_id) == client.generation_id
            persisted = self.persisted
            assert persisted.generation_id >= client.generation_id, "a response before its commit"
            if persisted.generation_id == client.generation_id:
                assert persisted.is_assigned, "a response before its commit"
                known = [one for one in persisted.members if one.member_id == client.member_id]
                assert [one.assignment for one in known] == [response.assignment]
            assert member_id in client.former
            owners = self.shares.setdefault(client.generation_id, {})
            assert owners.setdefault(member_id, client) is client, "two have the same share"
            client.works = True

    def heard(self, client: Client, error: BrokerError | None) -> None:
        if error is not None:
            client.refused(error)

    # ---- clients

    @rule(
        order=st.permutations(range(5)),
        some=st.sampled_from([2, 3, 4, 5, 5]),
        pause_ms=st.sampled_from([0, 0, 1000, 2000]),
        slow_leader=st.booleans(),
    )
    def go_on_together(self, order: list[int], some: int, pause_ms: int, slow_leader: bool) -> None:
        """Long enough for a stable group, unless the leader does not assign."""
        for _ in range(6):
            for number in order[:some]:
                client = self.clients[number]
                if not (slow_leader and client.has_joined and client.leads):
                    self.go_on(number)
            self.fake.scheduler.advance(pause_ms)

    @rule(order=st.permutations(range(5)))
    def come_to_work(self, order: list[int]) -> None:
        """Members that are gone are removed meanwhile."""
        for _ in range(14):
            for number in order:
                self.go_on(number)
            self.fake.scheduler.advance(900)

    @rule(number=st.integers(0, 4), again=st.booleans())
    def go_on_alone(self, number: int, again: bool) -> None:
        """`again`: on another connection, while the first request is pending."""
        self.go_on(number, again)

    def go_on(self, number: int, again: bool = False) -> None:
        client = self.clients[number]
        if client.requests and not again:
            return
        if not client.has_joined:
            self.join(client)
        elif not client.works:
            self.sync(client)
        else:
            self.heartbeat(client)

    def heartbeat(self, client: Client) -> None:
        try:
            heard = self.service.heartbeat(
                "g", client.member_id, client.instance_id, client.generation_id
            )
        except BrokerError as refusal:
            client.refused(refusal)
            return
        if heard is not None:
            self.request(client, heard, self.heard)

    @rule(
        order=st.permutations(range(5)),
        waits=st.booleans(),
        what=st.sampled_from(
            ["join again", "join again", "lose connection", "leave", "be removed"]
        ),
    )
    def one_is_different(self, order: list[int], waits: bool, what: str) -> None:
        """`waits`: a client with a pending request, if there is one."""
        number = order[0]
        if waits:
            waiting = [one for one in order if self.clients[one].requests]
            number = (waiting or order)[0]
        client = self.clients[number]
        if what == "join again":
            client.version += 1
            client.has_joined = client.works = False
            self.go_on(number)
        elif what == "lose connection":
            self.lose_connection(client)
        elif client.member_id:
            self.lose_connection(client)
            is_named = what == "be removed" and client.instance_id is not None
            leaving = LeavingMember("" if is_named else client.member_id, client.instance_id)
            self.requests.append(self.service.leave_group("g", [leaving]))
            client.forget()

    @rule(number=st.sampled_from([0, 1, 1, 4]))
    def return_anew(self, number: int) -> None:
        """The process is replaced by another one; the first two are static."""
        client = self.clients[number]
        self.lose_connection(client)
        client.forget()
        self.go_on(number)

    def lose_connection(self, client: Client) -> None:
        for request in client.requests:
            request.abandon()
        client.requests = []

    # ---- the broker

    @rule(
        what=st.sampled_from(
            ["time", "time", "stray", "hold", "let go", "let fail", "fail next", "restart"]
        ),
        by_ms=st.sampled_from([100, 1000, 3000, 5000, 5000, 7000, 61_000]),
    )
    def something_happens(self, what: str, by_ms: int) -> None:
        commit = self.fake.commit
        if what == "time":
            self.fake.scheduler.advance(by_ms)
        elif what == "stray":
            self.stray()
        elif what == "restart":
            self.restart()
        elif commit.under_way:
            commit.let_fail() if what == "let fail" else commit.let_go()
            self.fake.run()
        elif what == "hold":
            commit.hold()
        elif what == "fail next" and not commit.holding:
            commit.fail_next()

    def stray(self) -> None:
        """A client gets a member id and never joins."""
        self.strays += 1
        request = JoinRequest(
            *(f"stray-{self.strays}", "", None, "c", "/h", 6000, 6000, "consumer"),
            (("range", b""),),
        )
        self.requests.append(self.service.join_group(request))

    def restart(self) -> None:
        for client in self.clients:
            self.lose_connection(client)
        self.requests.clear()
        self.fake = self.fake.restarted()
        self.service.start()

    @property
    def persisted(self) -> Image:
        """The group after a restart."""
        changes = list(self.fake.core.groups.load("g"))
        assert len(changes) == 1
        change = changes[0]
        assert isinstance(change, GroupMetadataChanged) and change.image is not None
        return change.image

    # ---- invariants

    @invariant()
    def there_is_room(self) -> None:
        group = getattr(self, "fake", None) and self.group
        if group and group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            dynamic = [one for one in group.members.values() if not one.is_static]
            assert len(dynamic) <= MAX_SIZE
            assert group.leader in group.members
            assert group.generation_id >= self.highest

    @invariant()
    def what_is_counted_is_so(self) -> None:
        group = getattr(self, "fake", None) and self.group
        if group:
            members = list(group.members.values())
            assert group.joining == sum(one.joining is not None for one in members)
            assert group.static_members == {
                one.instance_id: one.member_id for one in members if one.is_static
            }
            assert group.unsynced <= set(group.members)
            assert not set(group.pending) & set(group.members)
            assert (group.state is State.EMPTY) <= (not members)

    def teardown(self) -> None:
        if not hasattr(self, "fake"):
            return
        if self.fake.commit.under_way:
            self.fake.commit.let_go()
        self.fake.commit.holding = False
        self.fake.commit.failures.clear()
        self.fake.scheduler.advance(EVERYTHING_MS)
        assert all(request.resolved for request in self.requests), "a request without a response"
        group = self.group
        assert group is None or (group.state is State.EMPTY and not group.pending)
        assert [
            one.group_id for one in self.fake.broker.groups.registry if one.group_id != "g"
        ] == []
        assert (
            self.service.pending_requests == self.fake.broker.groups.registry.runtime.decisions == 0
        )


@pytest.mark.timeout(600)  # with --long
def test_every_request_gets_a_response_with_the_persisted_generation() -> None:
    examples = settings().max_examples // 2
    run_state_machine_as_test(
        ClassicGroupMachine, settings=settings(max_examples=examples, stateful_step_count=40)
    )
