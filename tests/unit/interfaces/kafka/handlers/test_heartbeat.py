from __future__ import annotations

import pytest

from tests.fakes.classic_members import Member, stable
from tests.fakes.classic_requests import heartbeat_request
from tests.fakes.client import FakeKafka
from tests.fakes.logs import FakeRequestLog


@pytest.mark.parametrize("version", range(5))
def test_a_member_is_heard(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    stable(kafka, member)
    client = kafka.client()
    asked = {
        0: heartbeat_request(1, member.member_id),
        22: heartbeat_request(2, member.member_id),
        25: heartbeat_request(1, "nobody"),
        24: heartbeat_request(1, member.member_id, group_id=""),
    }
    for code, request in asked.items():
        assert client.ask(request, version).error_code == code
    assert client.ask(heartbeat_request(1, "m", group_id="none"), version).error_code == 25


@pytest.mark.parametrize("version", [3, 4])
def test_a_static_members_old_id_is_fenced(version: int) -> None:
    kafka = FakeKafka()
    member = Member(kafka, instance_id="i")
    stable(kafka, member)
    client = kafka.client()
    assert client.ask(heartbeat_request(1, "old", instance_id="i"), version).error_code == 82
    assert client.ask(heartbeat_request(1, member.member_id), version).error_code == 0


def test_members_learn_of_a_rebalance_and_that_is_no_failure() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    first, second = Member(kafka), Member(kafka)
    stable(kafka, first)
    second.begin_join()
    assert second.waits
    assert first.heartbeat() == 27
    assert kafka.request_log.records == []


def test_a_heartbeat_does_not_tell_of_what_is_not_kept() -> None:
    kafka = FakeKafka()
    member = Member(kafka)
    member.join()
    kafka.commit.hold()
    member.begin_sync({member.member_id: b"1"})
    kafka.run()
    other = Member(kafka)
    other.member_id, other.generation_id = member.member_id, 1
    other.client.send(heartbeat_request(1, member.member_id), 4)
    assert other.waits
    kafka.commit.let_go()
    assert other.answer().error_code == 0
