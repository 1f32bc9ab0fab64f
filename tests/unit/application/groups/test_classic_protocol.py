"""Classic groups: when answers leave, and what stays of whom."""

from __future__ import annotations

from typing import Any

import pytest

from application.groups.coordinator import GroupCoordinator
from application.ports.pending import Pending
from domain.errors import (
    CoordinatorLoadInProgress,
    CoordinatorNotAvailable,
    InconsistentGroupProtocol,
    InvalidGroupId,
    InvalidSessionTimeout,
    UnknownMemberId,
)
from domain.groups.classic import rebalance
from domain.groups.classic.group import ClassicGroup
from domain.groups.classic.leave import LeavingMember
from domain.groups.classic.member import JoinRequest
from domain.groups.classic.sync import SyncRequest
from tests.fakes.answers import answers_of
from tests.fakes.broker import FakeBroker


def join_request(member_id: str = "", twice: bool = False, **other: Any) -> JoinRequest:
    protocols = (("range", b"r"),)
    facts = JoinRequest(
        "g", member_id, None, "c", "/h", 10_000, 60_000, "consumer", protocols, twice
    )
    return facts._replace(**other)


def service(fake: FakeBroker) -> GroupCoordinator:
    return fake.broker.groups.coordinator


def joined(fake: FakeBroker, **other: Any) -> str:
    """The id of a member that is alone in a generation."""
    pending = service(fake).join_group(join_request(**other))
    fake.run()
    (answer,) = answers_of(pending)
    assert answer.error is None, answer
    return answer.member_id


def stable(fake: FakeBroker) -> str:
    member_id = joined(fake)
    request = SyncRequest("g", 1, member_id, None, None, None, {member_id: b"all"})
    pending = service(fake).sync_group(request)
    fake.run()
    assert [one.assignment for one in answers_of(pending)] == [b"all"]  # type: ignore[union-attr]
    return member_id


def test_a_client_that_only_asks_for_an_id_leaves_nothing_behind() -> None:
    fake = FakeBroker()
    service(fake).join_group(join_request(twice=True))
    assert len(fake.broker.groups.registry) == 1
    fake.scheduler.advance(10_000)
    assert len(fake.broker.groups.registry) == 0
    assert fake.scheduler.timers == []
    assert service(fake).pending_requests == fake.broker.groups.registry.runtime.decisions == 0


def test_a_refused_client_leaves_nothing_behind_either() -> None:
    fake = FakeBroker()
    with pytest.raises(InconsistentGroupProtocol):
        service(fake).join_group(join_request(protocol_type=""))
    assert len(fake.broker.groups.registry) == 0


def test_a_group_that_was_there_before_stays() -> None:
    fake = FakeBroker()
    stable(fake)
    fake.scheduler.advance(10_000)
    group = fake.broker.groups.registry.find("g")
    assert group is not None and group.is_empty


def test_what_is_wrong_with_a_request_is_said_before_there_is_a_group() -> None:
    fake = FakeBroker()
    with pytest.raises(InvalidGroupId):
        service(fake).join_group(join_request(group_id=""))
    with pytest.raises(InvalidSessionTimeout):
        service(fake).join_group(join_request(session_timeout_ms=1))
    with pytest.raises(UnknownMemberId):
        service(fake).join_group(join_request("m"))
    with pytest.raises(UnknownMemberId):
        service(fake).heartbeat("g", "m", None, 1)
    assert len(fake.broker.groups.registry) == 0


def test_while_offsets_are_read_from_the_store_nobody_is_let_in() -> None:
    fake = FakeBroker()
    fake.broker.groups.offsets.loaded = False
    for ask in (
        lambda: service(fake).join_group(join_request()),
        lambda: service(fake).heartbeat("g", "m", None, 1),
        lambda: service(fake).leave_group("g", [LeavingMember("m", None)]),
        lambda: service(fake).sync_group(SyncRequest("g", 1, "m", None, None, None, {})),
    ):
        with pytest.raises(CoordinatorLoadInProgress):
            ask()


def test_an_answer_leaves_with_the_commit_that_keeps_what_it_tells() -> None:
    fake = FakeBroker()
    fake.commit.hold()
    pending = service(fake).join_group(join_request())
    fake.run()
    assert answers_of(pending) == []
    # Whatever is asked meanwhile waits for it too.
    group = fake.broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup) and group.leader is not None
    heard = service(fake).heartbeat("g", group.leader, None, 1)
    assert isinstance(heard, Pending) and not heard.resolved
    fake.commit.let_go()
    assert pending.resolved and heard.resolved
    assert service(fake).heartbeat("g", group.leader, None, 1) is None


def test_when_nothing_is_kept_all_who_wait_are_told_and_the_group_is_as_it_was() -> None:
    fake = FakeBroker()
    member_id = stable(fake)
    fake.commit.hold()
    left = service(fake).leave_group("g", [LeavingMember(member_id, None)])
    fake.run()
    other = service(fake).join_group(join_request())
    fake.commit.let_fail()
    fake.run()
    refused = [*answers_of(left), *answers_of(other)]
    assert [type(one) for one in refused] == [CoordinatorNotAvailable] * 2
    assert service(fake).heartbeat("g", member_id, None, 1) is None
    fake.scheduler.advance(9999)
    group = fake.broker.groups.registry.find("g")
    assert group is not None and not group.is_empty
    fake.scheduler.advance(1)
    assert group.is_empty


def test_a_commit_of_others_that_fails_hurts_nobody_who_waits_for_members() -> None:
    fake = FakeBroker()
    member_id = stable(fake)
    other = service(fake).join_group(join_request())
    fake.commit.fail_next()
    failures: list[object] = []
    fake.broker.commits.when_committed(failures.append)
    fake.run()
    assert failures and answers_of(other) == []
    service(fake).join_group(join_request(member_id))
    fake.run()
    assert other.resolved


def test_after_a_restart_sessions_begin_when_the_broker_does() -> None:
    fake = FakeBroker()
    member_id = stable(fake)
    fake = fake.restarted()
    fake.scheduler.advance(50_000)
    service(fake).start()
    fake.scheduler.advance(9999)
    assert service(fake).heartbeat("g", member_id, None, 1) is None
    fake.scheduler.advance(10_000)
    with pytest.raises(UnknownMemberId):
        service(fake).heartbeat("g", member_id, None, 1)


def test_at_the_end_nobody_waits_and_nobody_is_taken_out_any_more() -> None:
    fake = FakeBroker()
    stable(fake)
    waiting = service(fake).join_group(join_request())
    fake.broker.stop_upkeep()
    assert [type(one) for one in answers_of(waiting)] == [CoordinatorNotAvailable]
    count = fake.commit.count
    fake.scheduler.advance(400_000)
    assert fake.commit.count == count


def test_what_was_due_at_once_is_not_done_after_the_end() -> None:
    fake = FakeBroker()
    service(fake).join_group(join_request())
    fake.broker.stop_upkeep()
    count = fake.commit.count
    fake.run()
    assert fake.commit.count == count


def test_a_group_of_which_something_is_always_due_does_not_keep_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rebalance, "LEAST_EXTENSION_MS", 0)
    fake = FakeBroker()
    first = service(fake).join_group(join_request())
    service(fake).join_group(join_request(instance_id="i", rebalance_timeout_ms=0))
    fake.run()
    (answer,) = answers_of(first)
    service(fake).leave_group("g", [LeavingMember(answer.member_id, None)])
    for _ in range(10):
        fake.scheduler.run_pass()
    group = fake.broker.groups.registry.find("g")
    assert group is not None and group.state_name == "PreparingRebalance"


def static_members(fake: FakeBroker, number: int) -> None:
    """In a stable group that a dynamic member leads."""
    first = service(fake).join_group(join_request())
    for each in range(number):
        service(fake).join_group(join_request(instance_id=f"i{each}"))
    fake.run()
    (leader,) = answers_of(first)
    service(fake).sync_group(SyncRequest("g", 1, leader.member_id, None, None, None, {}))
    fake.run()


def next_commit(fake: FakeBroker) -> None:
    """The one under way is done, and the next one is under way."""
    fake.commit.let_go()
    fake.commit.hold()
    fake.run()


def test_an_answer_does_not_wait_for_what_becomes_of_the_group_later() -> None:
    fake = FakeBroker()
    static_members(fake, 10)
    fake.commit.hold()
    returns = []
    for each in range(10):
        returns.append(service(fake).join_group(join_request(instance_id=f"i{each}")))
        if each == 0:
            fake.run()
            continue
        next_commit(fake)
        assert [one.resolved for one in returns] == [True] * each + [False]


def test_nobody_is_silent_while_an_answer_to_it_is_being_kept() -> None:
    fake = FakeBroker()
    static_members(fake, 1)
    returned = service(fake).join_group(join_request(instance_id="i0"))
    fake.commit.hold()
    fake.run()
    fake.clock.advance(30_000)
    fake.commit.let_go()
    (answer,) = answers_of(returned)
    group = fake.broker.groups.registry.find("g")
    assert isinstance(group, ClassicGroup)
    fake.scheduler.advance(9999)
    assert set(group.members) == {answer.member_id}
    fake.scheduler.advance(1)
    assert not group.members


def test_of_ids_that_nobody_uses_only_the_newest_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("application.groups.classic_protocol.MAX_ISSUED_IDS", 3)
    fake = FakeBroker()
    used = joined(fake, group_id="used")
    given = {}
    for group_id in ("used", "g0", "g1", "g2", "g3"):
        pending = service(fake).join_group(join_request(twice=True, group_id=group_id))
        (answer,) = answers_of(pending)
        given[group_id] = answer.member_id
    assert sorted(one.group_id for one in fake.broker.groups.registry) == ["g1", "g2", "g3", "used"]
    assert len(fake.scheduler.timers) == 4
    assert service(fake).heartbeat("used", used, None, 1) is None
    with pytest.raises(UnknownMemberId):
        service(fake).join_group(join_request(given["g0"], group_id="g0"))
    (answer,) = answers_of(service(fake).join_group(join_request(given["used"], group_id="used")))
    assert isinstance(answer.error, UnknownMemberId)
    assert joined(fake, member_id=given["g3"], group_id="g3") == given["g3"]
