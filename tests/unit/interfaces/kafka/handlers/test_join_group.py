from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.join_group import JoinGroupResponseMember
from tests.fakes.classic_members import Member, join_all, leader_of, stable
from tests.fakes.classic_requests import join_request
from tests.fakes.client import FakeKafka
from tests.fakes.logs import FakeRequestLog


@pytest.mark.parametrize("version", range(4))
def test_up_to_version_3_a_member_joins_at_once(version: int) -> None:
    kafka = FakeKafka()
    answer = Member(kafka).join(version)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.member_id == answer.leader
    assert answer.member_id.startswith("a-client-")
    assert [(one.member_id, one.metadata) for one in answer.members] == [(answer.leader, b"r")]


@pytest.mark.parametrize("version", range(4, 10))
def test_from_version_4_a_member_is_given_an_id_first(version: int) -> None:
    client = FakeKafka().client()
    given = client.ask(join_request(), version)
    assert (given.error_code, given.generation_id) == (79, -1)
    answer = client.ask(join_request(given.member_id), version)
    assert (answer.error_code, answer.member_id) == (0, given.member_id)
    assert answer.protocol_type == ("consumer" if version >= 7 else None)


@pytest.mark.parametrize("version", range(5, 10))
def test_a_static_member_is_not_asked_to_join_twice(version: int) -> None:
    answer = FakeKafka().client().ask(join_request(instance_id="i"), version)
    assert answer.error_code == 0
    assert answer.member_id.startswith("i-")
    wanted = JoinGroupResponseMember(
        member_id=answer.member_id, group_instance_id="i", metadata=b"r"
    )
    assert answer.members == [wanted]


@pytest.mark.parametrize("version", range(10))
def test_the_session_timeout_has_bounds(version: int) -> None:
    client = FakeKafka().client()
    for wrong_ms in (5999, 1_800_001, 0, -1):
        answer = client.ask(join_request("m", session_ms=wrong_ms), version)
        assert (answer.error_code, answer.member_id) == (26, "m")
        assert answer.protocol_name == ("" if version < 7 else None)


@pytest.mark.parametrize("version", range(10))
def test_a_group_has_a_name(version: int) -> None:
    assert FakeKafka().client().ask(join_request(group_id=""), version).error_code == 24


@pytest.mark.parametrize("version", range(10))
def test_nobody_is_a_member_of_a_group_that_is_not_there(version: int) -> None:
    kafka = FakeKafka()
    answer = kafka.client().ask(join_request("m"), version)
    assert (answer.error_code, answer.member_id) == (25, "m")
    assert len(kafka.broker.groups.registry) == 0


@pytest.mark.parametrize("version", [0, 1])
def test_in_version_0_a_rebalance_takes_as_long_as_a_session(version: int) -> None:
    kafka = FakeKafka()
    first = Member(kafka, session_ms=20_000)
    first.join(version)
    second = Member(kafka, session_ms=30_000)
    second.begin_join(version)
    assert second.waits
    for _ in range(2):
        kafka.scheduler.advance(14_000)
        first.heartbeat()
    assert second.waits
    kafka.scheduler.advance(2_000)
    assert second.waits == (version == 1)


def test_only_the_leader_is_told_who_is_there() -> None:
    kafka = FakeKafka()
    members = [Member(kafka) for _ in range(3)]
    answers = join_all(*members)
    assert {one.generation_id for one in answers} == {1}
    assert {one.leader for one in answers} == {leader_of(kafka)}
    told = {one.member_id: len(one.members) for one in answers}
    assert told[leader_of(kafka)] == 3
    assert sorted(told.values()) == [0, 0, 3]


@pytest.mark.parametrize("version", [8, 9])
def test_a_static_leader_that_returns_may_leave_the_assignment_as_it_is(version: int) -> None:
    kafka = FakeKafka()
    first, second = Member(kafka, instance_id="i"), Member(kafka)
    stable(kafka, first, second)
    old_id, first.member_id = first.member_id, ""
    answer = first.join(version)
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert answer.member_id != old_id
    if version == 9:
        assert (answer.skip_assignment, answer.leader) == (True, answer.member_id)
        assert {one.member_id for one in answer.members} == {first.member_id, second.member_id}
    else:
        # It does not hear that it leads, or it would assign what nobody is asked for.
        assert (answer.leader, answer.members) == (old_id, [])
    assert first.sync().assignment == old_id.encode()


def test_a_protocol_that_is_named_twice_counts_once() -> None:
    client = FakeKafka().client()
    request = join_request()
    request.protocols = [*request.protocols, *join_request(protocols={"range": b"no"}).protocols]
    answer = client.ask(request, 3)
    assert (answer.error_code, answer.members[0].metadata) == (0, b"r")


def test_a_commit_that_fails_sends_everybody_away() -> None:
    kafka = FakeKafka()
    kafka.commit.fail_next()
    answer = Member(kafka).join(3)
    assert (answer.error_code, answer.member_id, answer.generation_id) == (15, "", -1)
    assert len(kafka.broker.groups.registry) == 0
    assert Member(kafka).join(3).error_code == 0


def test_an_id_that_is_given_away_is_no_failure_in_the_log() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    kafka.client().ask(join_request(), 9)
    assert kafka.request_log.records == []
    kafka.client().ask(join_request("nobody", "h"), 9)
    assert [record.error_codes for record in kafka.request_log.records] == [(25,)]
