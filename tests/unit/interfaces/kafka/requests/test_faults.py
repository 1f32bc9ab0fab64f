"""Faults of tests: which requests match, and what becomes of them."""

from __future__ import annotations

from typing import Any

import pytest

from application.ports.pending import Pending
from domain.errors import InvalidRequest
from interfaces.kafka.requests import faults as faults_module
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.requests.faults import Fault, Faults
from interfaces.kafka.wire.messages.fetch import FetchRequest
from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from tests.fakes.broker import FakeBroker
from tests.fakes.classic_requests import heartbeat_request
from tests.fakes.client import FakeClient, FakeListener
from tests.fakes.logs import FakeRequestLog
from tests.fakes.plain_requests import plain_request
from tests.fakes.requests import fetch, metadata, produce
from tests.fakes.results import error_codes

TIMED_OUT, NOT_LEADER, NOT_COORDINATOR, OUT_OF_RANGE = 7, 6, 16, 1
UNKNOWN_MEMBER_ID, SESSION_NOT_FOUND = 25, 70


class FaultyKafka(FakeBroker):
    """With the topic `t`."""

    def __init__(self) -> None:
        super().__init__()
        self.topic("t")
        self.faults = Faults(self.scheduler)
        self.listener = FakeListener(self, FakeRequestLog(), faulty=self.faults.faulty)

    def client(self) -> FakeClient:
        return self.listener.client()


@pytest.fixture
def kafka() -> FaultyKafka:
    return FaultyKafka()


@pytest.fixture
def client(kafka: FaultyKafka) -> FakeClient:
    return kafka.client()


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_every_request_can_fail_in_every_version(kafka: FaultyKafka, api: Api) -> None:
    # Faults that do not match look at every name that a request has.
    kafka.faults.add(api.title, error="INVALID_REQUEST", topic="another", group="another")
    fault = kafka.faults.add("*", error="REQUEST_TIMED_OUT", times=None)
    for version in range(api.first_served, api.max_version + 1):
        request = plain_request(api.name, version, kafka.existing().topic_id)
        assert error_codes(kafka.client().request(request, version)) - {0} == {TIMED_OUT}, version
    assert fault.matched == api.max_version + 1 - api.first_served
    assert kafka.events.of("request_failed") == []


def test_only_so_many_requests_match(client: FakeClient, kafka: FaultyKafka) -> None:
    fault = kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER", times=2)
    codes = [error_codes(client.request(produce(), 9)) for _ in range(3)]
    assert codes == [{NOT_LEADER}, {NOT_LEADER}, {0}]
    assert fault.matched == 2
    assert kafka.partition().durable.next_offset == 1


@pytest.mark.parametrize(
    "fields",
    [{"topic": "u"}, {"client_id": "another"}, {"group": "g"}],
    ids=["topic", "client id", "group"],
)
def test_a_request_with_other_names_does_not_match(
    client: FakeClient, kafka: FaultyKafka, fields: dict[str, Any]
) -> None:
    kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER", **fields)
    assert error_codes(client.request(produce(), 9)) == {0}


def test_a_request_with_the_same_names_matches(client: FakeClient, kafka: FaultyKafka) -> None:
    kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER", topic="t", client_id="a-client")
    kafka.faults.add("Heartbeat", error="REQUEST_TIMED_OUT", group="g")
    by_id = plain_request("produce", 13, kafka.existing().topic_id)
    assert error_codes(client.request(by_id, 13)) == {NOT_LEADER}
    assert error_codes(client.request(heartbeat_request(1, "m"), 4)) == {TIMED_OUT}


def test_a_removed_fault_does_not_match(client: FakeClient, kafka: FaultyKafka) -> None:
    fault = kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER", times=None)
    assert kafka.faults.remove(fault.fault_id)
    assert not kafka.faults.remove(fault.fault_id)
    kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER", times=None)
    kafka.faults.clear()
    assert error_codes(client.request(produce(), 9)) == {0}


def test_the_number_of_faults_is_limited(
    kafka: FaultyKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults_module, "MAX_FAULTS", 1)
    kafka.faults.add("*", delay_ms=1)
    with pytest.raises(InvalidRequest):
        kafka.faults.add("*", delay_ms=1)


def test_acks_0_closes_the_connection_in_place_of_an_error(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    kafka.faults.add("Produce", error="NOT_LEADER_OR_FOLLOWER")
    client.send(produce(acks=0), 9)
    kafka.run()
    assert (client.closed, client.frames()) == (True, [])


# ---- delays


def test_a_delayed_request_is_handled_once_after_its_delay(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    fault = kafka.faults.add("Produce", delay_ms=100)
    other = kafka.client()
    client.send(produce("a"), 9)
    client.send(produce("b"), 9)
    kafka.scheduler.advance(99)
    assert client.responses() == []
    assert error_codes(other.request(metadata("t"), 12)) == {0}, "other clients do not wait"
    kafka.scheduler.advance(1)
    assert [error_codes(one) for one in client.responses()] == [{0}, {0}]
    assert kafka.partition().durable.next_offset == 2
    assert fault.matched == 1


def test_a_delayed_request_then_fails(client: FakeClient, kafka: FaultyKafka) -> None:
    kafka.faults.add("Produce", delay_ms=100, error="REQUEST_TIMED_OUT")
    client.send(produce(), 9)
    kafka.scheduler.advance(100)
    assert [error_codes(one) for one in client.responses()] == [{TIMED_OUT}]


def test_a_delayed_request_whose_client_disconnects_leaves_nothing(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    kafka.faults.add("Produce", delay_ms=100, error="REQUEST_TIMED_OUT")
    client.send(produce(), 9)
    kafka.run()
    client.transport.abort()
    kafka.scheduler.advance(100)
    assert kafka.partition().durable.next_offset == 0
    assert not kafka.listener.shared.sessions


# ---- disconnects


def test_before_the_request_is_handled(client: FakeClient, kafka: FaultyKafka) -> None:
    kafka.faults.add("Produce", disconnect="before")
    client.send(produce(), 9)
    kafka.run()
    assert (client.closed, client.frames(), client.why_closed()) == (True, [], "fault_injected")
    assert kafka.partition().durable.next_offset == 0


def test_in_place_of_the_response(client: FakeClient, kafka: FaultyKafka) -> None:
    kafka.faults.add("Produce", disconnect="after")
    client.send(produce(), 9)
    kafka.run()
    assert (client.closed, client.frames(), client.why_closed()) == (True, [], "fault_injected")
    assert kafka.partition().durable.next_offset == 1


def test_in_place_of_a_response_that_does_not_wait(client: FakeClient, kafka: FaultyKafka) -> None:
    kafka.faults.add("Metadata", disconnect="after")
    client.send(metadata("t"), 12)
    kafka.run()
    assert (client.closed, client.frames()) == (True, [])


def test_a_request_that_waits_for_the_disk_matches_once(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    fault = kafka.faults.add("Produce", disconnect="after")
    kafka.log.loading = Pending()
    client.send(produce(), 9)
    kafka.run()
    assert not client.closed
    kafka.log.load()
    kafka.run()
    assert (client.closed, fault.matched) == (True, 1)
    assert kafka.partition().durable.next_offset == 1


# ---- fetches


def in_session(session_id: int, epoch: int) -> FetchRequest:
    request = fetch(max_wait_ms=0)
    request.session_id, request.session_epoch = session_id, epoch
    if epoch:
        request.topics = []
    return request


def failing_fetch(kafka: FaultyKafka, **fields: Any) -> Fault:
    return kafka.faults.add("Fetch", error="OFFSET_OUT_OF_RANGE", **fields)


@pytest.mark.parametrize("version", [4, 7, 12])
def test_a_fetch_fails_for_each_of_its_partitions(
    client: FakeClient, kafka: FaultyKafka, version: int
) -> None:
    failing_fetch(kafka)
    response = client.request(fetch(), version)
    [partition] = response.responses[0].partitions
    assert (response.error_code, partition.error_code) == (0, OUT_OF_RANGE)
    assert partition.records == b""


def test_a_fetch_in_a_session_is_repeated_with_its_partitions(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    opened = client.request(in_session(0, 0), 12)
    fault = failing_fetch(kafka, topic="t")
    assert client.request(in_session(opened.session_id, 1), 12).error_code == SESSION_NOT_FOUND
    assert fault.matched == 0
    assert error_codes(client.request(in_session(0, 0), 12)) == {0, OUT_OF_RANGE}


def test_an_error_of_the_session_fails_the_whole_fetch(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    opened = client.request(in_session(0, 0), 12)
    fault = kafka.faults.add("Fetch", error="INVALID_FETCH_SESSION_EPOCH")
    assert client.request(in_session(opened.session_id, 1), 12).error_code == 71
    assert fault.matched == 1


# ---- coordinators


def find_coordinator(group: str) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(key_type=0, coordinator_keys=[group])


def test_each_client_has_to_find_a_moved_coordinator_again(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    def heartbeat(group: str = "g") -> set[int]:
        return error_codes(client.request(heartbeat_request(1, "m", group), 4))

    assert heartbeat() == {UNKNOWN_MEMBER_ID}
    kafka.faults.move_coordinator("g")
    assert heartbeat() == {NOT_COORDINATOR}
    assert heartbeat("another") == {UNKNOWN_MEMBER_ID}
    assert error_codes(client.request(find_coordinator("another"), 4)) == {0}
    assert heartbeat() == {NOT_COORDINATOR}
    assert error_codes(client.request(find_coordinator("g"), 4)) == {0}
    assert heartbeat() == {UNKNOWN_MEMBER_ID}


def test_clients_with_the_same_client_id_each_have_to_find_a_moved_coordinator(
    kafka: FaultyKafka,
) -> None:
    def heartbeat(client: FakeClient) -> set[int]:
        return error_codes(client.request(heartbeat_request(1, "m"), 4))

    clients = [kafka.client(), kafka.client()]
    assert [heartbeat(each) for each in clients] == [{UNKNOWN_MEMBER_ID}] * 2
    kafka.faults.move_coordinator("g")
    for each in clients:
        assert heartbeat(each) == {NOT_COORDINATOR}
        # As with Java's client, on a connection of its own.
        assert error_codes(kafka.client().request(find_coordinator("g"), 4)) == {0}
        assert heartbeat(each) == {UNKNOWN_MEMBER_ID}
    assert heartbeat(kafka.client()) == {UNKNOWN_MEMBER_ID}, "connected after the move"


@pytest.mark.parametrize("moved", [True, False])
def test_fetches_do_not_wait_while_their_client_looks_for_a_coordinator(
    kafka: FaultyKafka, moved: bool
) -> None:
    """FindCoordinator may be behind a fetch, on a connection that was not refused."""
    coordinator, other = kafka.client(), kafka.client()
    for each in (coordinator, other):
        each.request(heartbeat_request(1, "m"), 4)
    if moved:
        kafka.faults.move_coordinator("g")
    else:
        kafka.faults.add("Heartbeat", error="NOT_COORDINATOR")
    other.send(fetch(max_wait_ms=500), 12)
    kafka.run()
    assert other.responses() == []
    assert error_codes(coordinator.request(heartbeat_request(1, "m"), 4)) == {NOT_COORDINATOR}
    kafka.run()
    assert len(other.responses()) == 1, "the fetch that waited"
    other.send(fetch(max_wait_ms=500), 12)
    other.send(find_coordinator("g"), 4)
    kafka.scheduler.advance(faults_module.LOOKING_WAIT_MS)
    assert [error_codes(one) for one in other.responses()] == [{0}, {0}]
    other.send(fetch(max_wait_ms=500), 12)
    kafka.scheduler.advance(faults_module.LOOKING_WAIT_MS)
    assert len(other.responses()) == 1, "librdkafka may have to look for it again"
    assert error_codes(coordinator.request(heartbeat_request(1, "m"), 4)) == {UNKNOWN_MEMBER_ID}
    other.send(fetch(max_wait_ms=500), 12)
    kafka.scheduler.advance(499)
    assert other.responses() == []


def test_a_coordinator_that_moves_again_replaces_its_fault(kafka: FaultyKafka) -> None:
    first, other = kafka.faults.move_coordinator("g"), kafka.faults.move_coordinator("h")
    of_tests = kafka.faults.add("Heartbeat", error="NOT_COORDINATOR", group="g")
    again = kafka.faults.move_coordinator("g")
    assert kafka.faults.all() == [other, of_tests, again]
    assert first not in kafka.faults.all()


def test_requests_without_a_name_do_not_match_a_name(
    client: FakeClient, kafka: FaultyKafka
) -> None:
    kafka.faults.add("*", error="REQUEST_TIMED_OUT", topic="t")
    assert error_codes(client.request(MetadataRequest(topics=None), 12)) == {0}
