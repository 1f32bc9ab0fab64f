from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.leave_group import LeaveGroupRequest, MemberResponse
from tests.fakes.classic_members import Member, stable
from tests.fakes.classic_requests import leave_request
from tests.fakes.client import FakeKafka


@pytest.mark.parametrize("version", [0, 2])
def test_up_to_version_2_a_request_has_one_member(kafka: FakeKafka, version: int) -> None:
    member = Member(kafka)
    stable(kafka, member)
    for group_id, member_id, code in (
        *(("", "m", 24), ("unknown", "m", 25), ("g", "unknown", 25)),
        *(("g", member.member_id, 0), ("g", member.member_id, 25)),
    ):
        request = LeaveGroupRequest(group_id=group_id, member_id=member_id)
        assert member.client.request(request, version).error_code == code
    assert kafka.broker.groups.registry.find("g").is_empty  # type: ignore[union-attr]


@pytest.mark.parametrize("version", [3, 5])
def test_from_version_3_on_each_member_has_its_own_code(kafka: FakeKafka, version: int) -> None:
    plain, static, removed = (Member(kafka, instance_id=one) for one in (None, "i", "j"))
    stable(kafka, plain, static, removed)
    request = leave_request(
        *((plain.member_id, None), (plain.member_id, None), ("unknown", None), ("wrong", "i")),
        *((static.member_id, "i"), ("", "j"), ("", "k"), ("", None)),
    )
    response = plain.client.request(request, version)
    assert response.error_code == 0
    assert [one.error_code for one in response.members] == [0, 25, 25, 82, 0, 0, 25, 25]
    assert response.members[4] == MemberResponse(
        member_id=static.member_id, group_instance_id="i", error_code=0
    )
    assert kafka.broker.groups.registry.find("g").is_empty  # type: ignore[union-attr]
    unknown, nameless = (leave_request(("m", None), group_id=one) for one in ("unknown", ""))
    assert [one.error_code for one in plain.client.request(unknown, version).members] == [25]
    assert plain.client.request(nameless, version).error_code == 24


def test_the_response_comes_with_the_commit(kafka: FakeKafka) -> None:
    """After a failed one the member is still in the group."""
    member = Member(kafka)
    stable(kafka, member)
    kafka.commit.fail_next()
    assert member.leave().error_code == 15
    assert member.heartbeat() == 0
    kafka.commit.hold()
    member.client.send(leave_request((member.member_id, None)), 5)
    assert member.waits
    kafka.commit.let_go()
    assert member.response().members[0].error_code == 0
