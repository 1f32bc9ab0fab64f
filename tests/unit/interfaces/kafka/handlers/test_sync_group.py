from __future__ import annotations

from tests.fakes.classic_members import Member, join_all
from tests.fakes.client import FakeKafka


def test_each_member_gets_its_assignment_when_it_is_durable(kafka: FakeKafka) -> None:
    leader, follower = Member(kafka), Member(kafka)
    join_all(leader, follower)
    follower.begin_sync()
    assert follower.waits
    kafka.commit.hold()
    leader.begin_sync({leader.member_id: b"1", follower.member_id: b"2"})
    assert leader.waits and follower.waits
    kafka.commit.let_go()
    own, other = leader.response(), follower.response()
    assert [(one.error_code, one.assignment) for one in (own, other)] == [(0, b"1"), (0, b"2")]


def test_a_failed_commit_is_a_retriable_error_and_leaves_no_assignment(kafka: FakeKafka) -> None:
    leader = Member(kafka)
    leader.join()
    kafka.commit.fail_next()
    refused = leader.sync({leader.member_id: b"1"})
    assert (refused.error_code, refused.assignment) == (15, b"")
    assert leader.sync({leader.member_id: b"1"}).assignment == b"1"
