from __future__ import annotations

from tests.fakes.classic_members import Member, stable
from tests.fakes.classic_requests import heartbeat_request
from tests.fakes.client import FakeKafka
from tests.fakes.logs import FakeRequestLog


def test_a_rebalance_is_no_failure_in_the_request_log() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    first, second = Member(kafka), Member(kafka)
    stable(kafka, first)
    second.begin_join()
    assert second.waits
    assert first.heartbeat() == 27
    assert kafka.request_log.records == []


def test_a_heartbeat_waits_for_the_commit_of_the_assignment(kafka: FakeKafka) -> None:
    member = Member(kafka)
    member.join()
    kafka.commit.hold()
    member.begin_sync({member.member_id: b"1"})
    kafka.run()
    other = Member(kafka)
    other.client.send(heartbeat_request(1, member.member_id), 4)
    assert other.waits
    kafka.commit.let_go()
    assert other.response().error_code == 0
