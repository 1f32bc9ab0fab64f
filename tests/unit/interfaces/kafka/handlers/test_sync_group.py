from __future__ import annotations

import pytest

from tests.fakes.classic_members import Member, join_all
from tests.fakes.classic_requests import sync_request
from tests.fakes.client import FakeKafka


@pytest.mark.parametrize("version", range(6))
def test_the_leader_gives_and_all_take(version: int) -> None:
    kafka = FakeKafka()
    leader, follower = Member(kafka), Member(kafka)
    join_all(leader, follower)
    follower.begin_sync(version=version)
    assert follower.waits
    shares = {leader.member_id: b"1", follower.member_id: b"2"}
    own = leader.sync(shares, version)
    other = follower.answer()
    assert [(one.error_code, one.assignment) for one in (own, other)] == [(0, b"1"), (0, b"2")]
    named = ("consumer", "range") if version >= 5 else (None, None)
    assert (own.protocol_type, own.protocol_name) == named


@pytest.mark.parametrize("version", range(6))
def test_refusals_carry_no_assignment(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    member.join()
    client = kafka.client()
    asked = {
        24: sync_request(1, member.member_id, group_id=""),
        25: sync_request(1, "nobody"),
        22: sync_request(2, member.member_id),
    }
    for code, request in asked.items():
        answer = client.ask(request, version)
        assert (answer.error_code, answer.assignment) == (code, b"")
    assert client.ask(sync_request(1, "m", group_id="none"), version).error_code == 25


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name"),
    [(None, "range"), ("consumer", None), ("connect", "range"), ("consumer", "sticky")],
)
def test_from_version_5_the_protocol_has_to_be_the_groups(
    protocol_type: str | None, protocol_name: str | None
) -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    member.join()
    asked = sync_request(
        1, member.member_id, protocol_type=protocol_type, protocol_name=protocol_name
    )
    assert kafka.client().ask(asked, 5).error_code == 23
    assert kafka.client().ask(asked, 4).error_code == 0


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_static_member_is_known_by_its_instance(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka, instance_id="i")
    member.join()
    client = kafka.client()
    wrong = sync_request(1, "other", instance_id="i")
    assert client.ask(wrong, version).error_code == 82
    unknown = sync_request(1, member.member_id, instance_id="j")
    assert client.ask(unknown, version).error_code == 25
    assert member.sync({member.member_id: b"!"}, version).assignment == b"!"


def test_no_assignment_leaves_before_it_is_kept() -> None:
    kafka = FakeKafka()
    leader, follower = Member(kafka), Member(kafka)
    join_all(leader, follower)
    kafka.commit.hold()
    leader.begin_sync({leader.member_id: b"1", follower.member_id: b"2"})
    assert leader.waits
    follower.begin_sync()
    assert follower.waits
    kafka.commit.let_go()
    assert [leader.answer().assignment, follower.answer().assignment] == [b"1", b"2"]


def test_a_commit_that_fails_leaves_the_generation_without_an_assignment() -> None:
    kafka = FakeKafka()
    leader = Member(kafka)
    leader.join()
    kafka.commit.fail_next()
    refused = leader.sync({leader.member_id: b"1"})
    assert (refused.error_code, refused.assignment) == (15, b"")
    assert leader.sync({leader.member_id: b"1"}).assignment == b"1"
