from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.join_group import JoinGroupResponseMember
from tests.fakes.classic_members import Member, join_all, leader_of, stable
from tests.fakes.classic_requests import join_request
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.logs import FakeRequestLog


@pytest.mark.parametrize("version", [0, 3])
def test_up_to_version_3_a_member_joins_at_once(kafka: FakeKafka, version: int) -> None:
    answer = Member(kafka).join(version)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.member_id == answer.leader
    assert answer.member_id.startswith("a-client-")
    assert [(one.member_id, one.metadata) for one in answer.members] == [(answer.leader, b"r")]


@pytest.mark.parametrize("version", [4, 6, 7, 9])
def test_from_version_4_on_a_member_gets_its_id_first(client: FakeClient, version: int) -> None:
    first = client.ask(join_request(), version)
    assert (first.error_code, first.generation_id) == (79, -1)
    answer = client.ask(join_request(first.member_id), version)
    assert (answer.error_code, answer.member_id) == (0, first.member_id)
    assert answer.protocol_type == ("consumer" if version >= 7 else None)


@pytest.mark.parametrize("version", [5, 9])
def test_a_static_member_joins_at_once(client: FakeClient, version: int) -> None:
    answer = client.ask(join_request(instance_id="i"), version)
    assert answer.error_code == 0
    assert answer.member_id.startswith("i-")
    assert answer.members == [
        JoinGroupResponseMember(member_id=answer.member_id, group_instance_id="i", metadata=b"r")
    ]


@pytest.mark.parametrize("version", [0, 6, 7, 9])
def test_each_refusal_has_its_code(kafka: FakeKafka, client: FakeClient, version: int) -> None:
    for request, code in (
        (join_request("m", session_ms=5999), 26),
        (join_request("m", session_ms=1_800_001), 26),
        (join_request("m", group_id=""), 24),
        (join_request("m"), 25),
    ):
        answer = client.ask(request, version)
        assert (answer.error_code, answer.member_id) == (code, "m")
        assert answer.protocol_name == ("" if version < 7 else None)
    assert len(kafka.broker.groups.registry) == 0


@pytest.mark.parametrize("version", [0, 1])
def test_in_version_0_the_session_timeout_limits_a_rebalance(
    kafka: FakeKafka, version: int
) -> None:
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


def test_only_the_leader_gets_the_list_of_members(kafka: FakeKafka) -> None:
    answers = join_all(*(Member(kafka) for _ in range(3)))
    assert {one.generation_id for one in answers} == {1}
    assert {one.leader for one in answers} == {leader_of(kafka)}
    sizes = {one.member_id: len(one.members) for one in answers}
    assert sizes[leader_of(kafka)] == 3
    assert sorted(sizes.values()) == [0, 0, 3]


@pytest.mark.parametrize("version", [8, 9])
def test_a_returning_static_leader_does_not_assign_again(kafka: FakeKafka, version: int) -> None:
    """Version 9 has a field for this; before, the response names its old id as the leader."""
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
        assert (answer.leader, answer.members) == (old_id, [])
    assert first.sync().assignment == old_id.encode()


def test_of_a_repeated_protocol_the_first_counts(client: FakeClient) -> None:
    request = join_request()
    request.protocols = [*request.protocols, *join_request(protocols={"range": b"no"}).protocols]
    answer = client.ask(request, 3)
    assert (answer.error_code, answer.members[0].metadata) == (0, b"r")


def test_a_failed_commit_is_a_retriable_error_and_leaves_no_group(kafka: FakeKafka) -> None:
    kafka.commit.fail_next()
    answer = Member(kafka).join(3)
    assert (answer.error_code, answer.member_id, answer.generation_id) == (15, "", -1)
    assert len(kafka.broker.groups.registry) == 0
    assert Member(kafka).join(3).error_code == 0


def test_a_new_member_id_is_no_failure_in_the_request_log() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    kafka.client().ask(join_request(), 9)
    assert kafka.request_log.records == []
    kafka.client().ask(join_request("unknown", "h"), 9)
    assert [record.error_codes for record in kafka.request_log.records] == [(25,)]
