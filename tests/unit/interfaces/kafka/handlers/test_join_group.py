from __future__ import annotations

import pytest

from tests.fakes.classic_members import Member
from tests.fakes.classic_requests import join_request
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.logs import FakeRequestLog


@pytest.mark.parametrize("version", [3, 4])
def test_a_new_member_id_starts_with_the_client_id(client: FakeClient, version: int) -> None:
    assert client.request(join_request(), version).member_id.startswith("a-client-")


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


def test_a_new_member_id_is_no_failure_in_the_request_log() -> None:
    kafka = FakeKafka(FakeRequestLog(True, slow_ns=10**18))
    kafka.client().request(join_request(), 9)
    assert kafka.request_log.records == []
    kafka.client().request(join_request("unknown", "h"), 9)
    assert [record.error_codes for record in kafka.request_log.records] == [(25,)]
