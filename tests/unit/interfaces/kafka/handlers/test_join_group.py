from __future__ import annotations

import pytest

from tests.fakes.classic_members import Member
from tests.fakes.classic_requests import join_request
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.logs import FakeRequestLog


@pytest.mark.parametrize("version", [0, 3])
def test_up_to_version_3_a_member_joins_at_once(kafka: FakeKafka, version: int) -> None:
    response = Member(kafka).join(version)
    assert (response.error_code, response.generation_id, response.protocol_name) == (0, 1, "range")
    assert response.member_id == response.leader
    assert response.member_id.startswith("a-client-")
    assert [(one.member_id, one.metadata) for one in response.members] == [(response.leader, b"r")]


@pytest.mark.parametrize("version", [4, 6, 7, 9])
def test_from_version_4_on_a_member_gets_its_id_first(client: FakeClient, version: int) -> None:
    first = client.request(join_request(), version)
    assert (first.error_code, first.generation_id) == (79, -1)
    response = client.request(join_request(first.member_id), version)
    assert (response.error_code, response.member_id) == (0, first.member_id)
    assert response.protocol_type == ("consumer" if version >= 7 else None)


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


def test_of_a_repeated_protocol_the_first_counts(client: FakeClient) -> None:
    request = join_request()
    request.protocols = [*request.protocols, *join_request(protocols={"range": b"no"}).protocols]
    response = client.request(request, 3)
    assert (response.error_code, response.members[0].metadata) == (0, b"r")


def test_a_failed_commit_is_a_retriable_error_and_leaves_no_group(kafka: FakeKafka) -> None:
    kafka.commit.fail_next()
    response = Member(kafka).join(3)
    assert (response.error_code, response.member_id, response.generation_id) == (15, "", -1)
    assert len(kafka.broker.groups.registry) == 0
    assert Member(kafka).join(3).error_code == 0


def test_a_new_member_id_is_no_failure_in_the_request_log() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    kafka.client().request(join_request(), 9)
    assert kafka.request_log.records == []
    kafka.client().request(join_request("unknown", "h"), 9)
    assert [record.error_codes for record in kafka.request_log.records] == [(25,)]
