from __future__ import annotations

from tests.fakes.classic_members import Member, stable
from tests.fakes.classic_requests import leave_request
from tests.fakes.client import FakeKafka


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


def test_a_member_that_occurs_twice_leaves_once(kafka: FakeKafka) -> None:
    member = Member(kafka)
    stable(kafka, member)
    request = leave_request(*[(member.member_id, None)] * 2)
    assert [one.error_code for one in member.client.request(request, 5).members] == [0, 25]
