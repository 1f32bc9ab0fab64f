"""Classic groups: when responses are sent, and which groups and members remain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.groups.coordinator import GroupCoordinator
from application.ports.pending import Pending
from domain.errors import (
    BrokerError,
    CoordinatorNotAvailable,
    InconsistentGroupProtocol,
    InvalidGroupId,
    InvalidSessionTimeout,
    NotCoordinator,
    UnknownMemberId,
)
from domain.groups.classic import rebalance
from domain.groups.classic.changes import JoinResponse
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from tests.fakes.broker import FakeBroker
from tests.fakes.results import results_of


def join_request(member_id: str = "", twice: bool = False, **fields: Any) -> JoinRequest:
    protocols = (("range", b"r"),)
    request = JoinRequest(
        "g", member_id, None, "c", "/h", 10_000, 60_000, "consumer", protocols, twice
    )
    return request._replace(**fields)


def service(fake: FakeBroker) -> GroupCoordinator:
    return fake.broker.groups.coordinator


def join(fake: FakeBroker, *args: Any, **fields: Any) -> Pending[Any]:
    return service(fake).join_group(join_request(*args, **fields))


def result_of(pending: Pending[Any]) -> JoinResponse:
    (response,) = results_of(pending)
    assert isinstance(response, JoinResponse)
    return response


def joined(fake: FakeBroker, **fields: Any) -> str:
    """The id of the only member of a new generation."""
    pending = join(fake, **fields)
    fake.run()
    response = result_of(pending)
    assert response.error is None, response
    return response.member_id


def stable(fake: FakeBroker) -> str:
    member_id = joined(fake)
    request = SyncRequest("g", 1, member_id, None, None, None, {member_id: b"all"})
    pending = service(fake).sync_group(request)
    fake.run()
    assert [one.assignment for one in results_of(pending)] == [b"all"]  # type: ignore[union-attr]
    return member_id


def group_of(fake: FakeBroker) -> ClassicGroup:
    group = fake.broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup)
    return group


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


def test_a_client_that_only_gets_a_member_id_leaves_no_group(fake: FakeBroker) -> None:
    join(fake, twice=True)
    assert len(fake.broker.groups.registry) == 1
    fake.scheduler.advance(10_000)
    assert len(fake.broker.groups.registry) == 0
    assert fake.scheduler.timers == []
    assert service(fake).pending_requests == fake.broker.groups.registry.runtime.decisions == 0


def test_a_group_stays_when_its_last_member_is_removed(fake: FakeBroker) -> None:
    stable(fake)
    fake.scheduler.advance(10_000)
    assert group_of(fake).is_empty


@pytest.mark.parametrize(
    ("error", "send"),
    [
        (InconsistentGroupProtocol, lambda fake: join(fake, protocol_type="")),
        (InvalidGroupId, lambda fake: join(fake, group_id="")),
        (InvalidSessionTimeout, lambda fake: join(fake, session_timeout_ms=1)),
        (UnknownMemberId, lambda fake: join(fake, "m")),
        (UnknownMemberId, lambda fake: service(fake).heartbeat("g", "m", None, 1)),
    ],
)
def test_a_refused_request_creates_no_group(
    fake: FakeBroker, error: type[BrokerError], send: Callable[[FakeBroker], object]
) -> None:
    with pytest.raises(error):
        send(fake)
    assert len(fake.broker.groups.registry) == 0


def test_a_response_is_sent_with_the_commit_of_its_changes(fake: FakeBroker) -> None:
    fake.commit.hold()
    pending = join(fake)
    fake.run()
    assert results_of(pending) == []
    # Later requests wait for the same commit.
    leader = group_of(fake).leader
    assert leader is not None
    heartbeat = service(fake).heartbeat("g", leader, None, 1)
    assert isinstance(heartbeat, Pending) and not heartbeat.resolved
    fake.commit.let_go()
    assert pending.resolved and heartbeat.resolved
    assert service(fake).heartbeat("g", leader, None, 1) is None


def test_no_session_ends_while_the_broker_has_no_lease(fake: FakeBroker) -> None:
    """No heartbeat is served, and the members may have another coordinator."""
    member_id, coordinator = joined(fake), service(fake)
    fake.placement.has_lease = False
    fake.scheduler.advance(35_000)
    with pytest.raises(NotCoordinator):
        coordinator.heartbeat("g", member_id, None, 1)
    coordinator.hold()
    fake.placement.has_lease = True
    fake.scheduler.advance(10_000)
    coordinator.resume()
    fake.scheduler.advance(9999)
    assert coordinator.heartbeat("g", member_id, None, 1) is None
    fake.scheduler.advance(10_000)
    with pytest.raises(UnknownMemberId):
        coordinator.heartbeat("g", member_id, None, 1)


def test_a_failed_commit_fails_pending_requests_and_restores_the_group(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake.commit.hold()
    leave = service(fake).leave_group("g", [LeavingMember(member_id, None)])
    fake.run()
    other = join(fake)
    fake.commit.let_fail()
    fake.run()
    results = [*results_of(leave), *results_of(other)]
    assert [type(one) for one in results] == [CoordinatorNotAvailable] * 2
    assert service(fake).heartbeat("g", member_id, None, 1) is None
    fake.scheduler.advance(9999)
    assert not group_of(fake).is_empty
    fake.scheduler.advance(1)
    assert group_of(fake).is_empty


def test_a_failed_commit_without_changes_of_the_group_does_not_affect_it(
    fake: FakeBroker,
) -> None:
    member_id = stable(fake)
    other = join(fake)
    fake.commit.fail_next()
    failures: list[object] = []
    fake.broker.commits.when_committed(failures.append)
    fake.run()
    assert failures and results_of(other) == []
    join(fake, member_id)
    fake.run()
    assert other.resolved


def test_after_a_restart_sessions_start_with_the_broker(fake: FakeBroker) -> None:
    member_id = stable(fake)
    fake = fake.restarted()
    fake.scheduler.advance(50_000)
    service(fake).start()
    fake.scheduler.advance(9999)
    assert service(fake).heartbeat("g", member_id, None, 1) is None
    fake.scheduler.advance(10_000)
    with pytest.raises(UnknownMemberId):
        service(fake).heartbeat("g", member_id, None, 1)


def test_a_stopping_broker_fails_pending_joins_and_removes_no_member(fake: FakeBroker) -> None:
    stable(fake)
    pending = join(fake)
    fake.broker.stop_upkeep()
    assert [type(one) for one in results_of(pending)] == [CoordinatorNotAvailable]
    count = fake.commit.count
    fake.scheduler.advance(400_000)
    assert fake.commit.count == count


def test_a_timer_that_is_due_does_not_fire_after_the_stop(fake: FakeBroker) -> None:
    join(fake)
    fake.broker.stop_upkeep()
    count = fake.commit.count
    fake.run()
    assert fake.commit.count == count


def test_a_group_whose_timer_is_always_due_does_not_block_the_loop(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebalance, "LEAST_EXTENSION_MS", 0)
    first = join(fake)
    join(fake, instance_id="i", rebalance_timeout_ms=0)
    fake.run()
    service(fake).leave_group("g", [LeavingMember(result_of(first).member_id, None)])
    for _ in range(10):
        fake.scheduler.run_pass()
    assert group_of(fake).state_name == "PreparingRebalance"


def static_members(fake: FakeBroker, number: int) -> None:
    """In a stable group that a dynamic member leads."""
    first = join(fake)
    for each in range(number):
        join(fake, instance_id=f"i{each}")
    fake.run()
    leader = result_of(first).member_id
    service(fake).sync_group(SyncRequest("g", 1, leader, None, None, None, {}))
    fake.run()


def test_a_response_does_not_wait_for_later_changes_of_the_group(fake: FakeBroker) -> None:
    static_members(fake, 10)
    fake.commit.hold()
    responses = []
    for each in range(10):
        responses.append(join(fake, instance_id=f"i{each}"))
        if each > 0:
            fake.commit.let_go()
            fake.commit.hold()
        fake.run()
        assert [one.resolved for one in responses] == [True] * each + [False]


def test_a_session_starts_when_the_response_is_sent(fake: FakeBroker) -> None:
    static_members(fake, 1)
    returned = join(fake, instance_id="i0")
    fake.commit.hold()
    fake.run()
    fake.clock.advance(30_000)
    fake.commit.let_go()
    fake.scheduler.advance(9999)
    assert set(group_of(fake).members) == {result_of(returned).member_id}
    fake.scheduler.advance(1)
    assert not group_of(fake).members


def test_of_unused_member_ids_only_the_newest_are_valid(
    fake: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("application.groups.classic_protocol.MAX_ISSUED_IDS", 3)
    used = joined(fake, group_id="used")
    issued = {}
    for group_id in ("used", "g0", "g1", "g2", "g3"):
        issued[group_id] = result_of(join(fake, twice=True, group_id=group_id)).member_id
    assert sorted(one.group_id for one in fake.broker.groups.registry) == ["g1", "g2", "g3", "used"]
    assert len(fake.scheduler.timers) == 4
    assert service(fake).heartbeat("used", used, None, 1) is None
    with pytest.raises(UnknownMemberId):
        join(fake, issued["g0"], group_id="g0")
    error = result_of(join(fake, issued["used"], group_id="used")).error
    assert isinstance(error, UnknownMemberId)
    assert joined(fake, member_id=issued["g3"], group_id="g3") == issued["g3"]
