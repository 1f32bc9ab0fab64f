from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest, MemberResponse
from tests.fakes.classic_members import Member, stable
from tests.fakes.classic_requests import join_request, leave_request
from tests.fakes.client import FakeKafka


@pytest.mark.parametrize("version", range(3))
def test_up_to_version_2_one_member_leaves(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    stable(kafka, member)
    client = kafka.client()
    wrong = LeaveGroupRequest(group_id="g", member_id="nobody")
    right = LeaveGroupRequest(group_id="g", member_id=member.member_id)
    assert client.ask(wrong, version).error_code == 25
    assert client.ask(right, version).error_code == 0
    assert client.ask(right, version).error_code == 25
    assert kafka.broker.groups.registry.find("g").is_empty  # type: ignore[union-attr]


@pytest.mark.parametrize("version", range(3, 6))
def test_from_version_3_each_member_has_its_own_answer(version: int) -> None:
    kafka = FakeKafka()
    plain, static, by_admin = (
        Member(kafka),
        Member(kafka, instance_id="i"),
        Member(kafka, instance_id="j"),
    )
    stable(kafka, plain, static, by_admin)
    asked = leave_request(
        (plain.member_id, None),
        (plain.member_id, None),
        ("nobody", None),
        ("wrong", "i"),
        (static.member_id, "i"),
        ("", "j"),
        ("", "k"),
        ("", None),
    )
    answer = kafka.client().ask(asked, version)
    assert answer.error_code == 0
    assert [one.error_code for one in answer.members] == [0, 25, 25, 82, 0, 0, 25, 25]
    assert answer.members[4] == MemberResponse(
        member_id=static.member_id, group_instance_id="i", error_code=0
    )
    assert kafka.broker.groups.registry.find("g").is_empty  # type: ignore[union-attr]


@pytest.mark.parametrize("version", range(6))
def test_a_group_that_is_not_there_or_has_no_name(version: int) -> None:
    client = FakeKafka().client()
    if version < 3:
        unknown, nameless = (LeaveGroupRequest(group_id=one, member_id="m") for one in ("g", ""))
        assert client.ask(unknown, version).error_code == 25
    else:
        unknown, nameless = (leave_request(("m", None), group_id=one) for one in ("g", ""))
        assert [one.error_code for one in client.ask(unknown, version).members] == [25]
    assert client.ask(nameless, version).error_code == 24


def test_a_member_that_has_not_come_back_with_its_id_leaves_too() -> None:
    kafka = FakeKafka()
    client = kafka.client()
    member_id = client.ask(join_request(), 9).member_id
    assert [one.error_code for one in client.ask(leave_request((member_id, None)), 5).members] == [
        0
    ]
    assert client.ask(join_request(member_id), 9).error_code == 25
    assert len(kafka.broker.groups.registry) == 0


def test_the_last_to_leave_hears_it_when_it_is_kept() -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    stable(kafka, member)
    kafka.commit.hold()
    member.client.send(leave_request((member.member_id, None)), 5)
    assert member.waits
    kafka.commit.let_go()
    assert member.answer().members[0].error_code == 0


def test_who_cannot_leave_because_the_commit_fails_is_still_there() -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    stable(kafka, member)
    kafka.commit.fail_next()
    assert member.leave().error_code == 15
    assert member.heartbeat() == 0
