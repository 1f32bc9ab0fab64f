"""The real Session over a transport without a socket."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.security.principal import ANONYMOUS
from interfaces.kafka.connections.session import Session
from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from tests.fakes.client import LISTENER, FakeClient, FakeKafka, FakeListener, frame, raw_frame
from tests.fakes.logs import FakeRequestLog
from tests.fakes.requests import fetch, kinds, metadata, offsets, produce
from tests.fakes.topic_requests import new
from tests.fakes.transport import FakeTransport


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- order


def test_requests_wait_for_an_earlier_fetch_of_their_connection_only(
    kafka: FakeKafka, client: FakeClient
) -> None:
    other = kafka.client()
    client.send(fetch(), 12)
    client.send(metadata("t"), 12)
    client.send(produce("late"), 9)
    assert kinds([other.request(metadata("t"), 12)]) == ["Metadata"]
    assert client.responses() == []
    assert kafka.partition().end.next_offset == 0
    other.request(produce("early"), 9)
    responses = client.responses()
    assert kinds(responses) == ["Fetch", "Metadata", "Produce"]
    assert offsets(responses[2:]) == [1]


def test_a_request_sees_the_changes_of_earlier_ones_of_its_connection(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.hold()
    client.send(CreateTopicsRequest(topics=[new("new", 3)]), 7)
    client.send(metadata("new"), 12)
    kafka.run()
    assert client.responses() == []
    kafka.commit.let_go()
    kafka.run()
    _, described = client.responses()
    assert len(described.topics[0].partitions) == 3


def test_the_responses_of_one_pass_are_one_write(kafka: FakeKafka, client: FakeClient) -> None:
    client.transport.receive(b"".join(frame(produce(), 9, i) for i in range(10)))
    kafka.run()
    assert client.transport.writes == 1
    assert len(client.frames()) == 10


# ---- quotas


class ProduceQuota:
    """Each Produce request costs 100 ms."""

    unlimited = False

    def __init__(self) -> None:
        self.checked: list[tuple[object, ...]] = []

    def count(self, *request: Any) -> int:
        self.checked.append(request)
        return 100 if request[3] else 0


@pytest.fixture
def quota(kafka: FakeKafka) -> ProduceQuota:
    quota = ProduceQuota()
    kafka.broker = replace(kafka.broker, quotas=quota)
    FakeListener.__init__(kafka, kafka, kafka.request_log)
    return quota


def test_a_throttled_client_gets_its_responses_and_is_then_muted(
    kafka: FakeKafka, quota: ProduceQuota
) -> None:
    client, other = kafka.client(), kafka.client()
    client.send(produce("a"), 9)
    client.send(produce("b"), 9)
    kafka.run()
    assert [one.throttle_time_ms for one in client.responses()] == [100, 100]
    size_bytes = len(frame(produce("a"), 9))
    principal, client_id, _thread_ns, produced_bytes = quota.checked[0][:4]
    assert (principal, client_id, produced_bytes) == (ANONYMOUS, "a-client", size_bytes)
    client.send(metadata("t"), 12)
    assert not client.transport.reading
    kafka.scheduler.advance(99)
    assert kinds([other.request(metadata("t"), 12)]) == ["Metadata"]
    assert client.responses() == []
    kafka.scheduler.advance(1)
    [response] = client.responses()
    assert (kinds([response]), response.throttle_time_ms) == (["Metadata"], 0)


@pytest.mark.usefixtures("quota")
def test_received_requests_behind_a_throttled_one_wait(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(produce(acks=0), 9)
    client.send(metadata("t"), 12)
    kafka.run()
    assert client.responses() == []
    kafka.scheduler.advance(100)
    assert kinds(client.responses()) == ["Metadata"]


@pytest.mark.usefixtures("quota")
@pytest.mark.parametrize("end", [Session.drain, Session.abort, FakeTransport.drop])
def test_a_throttled_connection_can_end(kafka: FakeKafka, end: Callable[[Any], None]) -> None:
    client = kafka.client()
    client.request(produce(), 9)
    end(client.transport if end is FakeTransport.drop else client.session)
    kafka.run()
    assert client.closed and not kafka.shared.sessions
    assert not [one for one in kafka.scheduler.timers if "_throttle_over" in repr(one.callback)]


# ---- acks=0


def test_a_request_without_a_response_leaves_no_gap(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(produce("a", acks=0), 9)
    client.send(metadata("t"), 12)
    client.send(produce("b", acks=0), 9)
    client.send(produce("c", acks=1), 9)
    kafka.run()
    responses = client.responses()
    assert kinds(responses) == ["Metadata", "Produce"]
    assert offsets(responses[1:]) == [2]
    assert kafka.partition().high_watermark == 3


def test_a_failed_commit_of_a_batch_with_acks_0_closes_the_connection(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next("no space left")
    client.send(produce(acks=0), 9)
    kafka.run()
    assert client.closed
    assert client.why_closed() == "produce_failed"


# ---- invalid bytes

SIZE, MALFORMED, UNSUPPORTED = "invalid_request_size", "malformed_request", "unsupported_version"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (struct.pack(">i", -1), SIZE),
        (struct.pack(">i", 7), SIZE),
        (struct.pack(">i", 2**31 - 1), SIZE),
        (struct.pack(">ihhi", 8, 3, 1, 5), SIZE),
        (struct.pack(">ihhih", 10, 3, 1, 5, 100), MALFORMED),
        (raw_frame(3, 1, b""), MALFORMED),
        (raw_frame(3, 1, b"\x7f\xff\xff\xff"), MALFORMED),
        (raw_frame(3, 12, b"\xff\xff\xff\xff\xff\xff", flexible=True), MALFORMED),
        (raw_frame(99, 0, b""), UNSUPPORTED),
        (raw_frame(17, 1, b""), MALFORMED),
        (raw_frame(3, 14, b""), UNSUPPORTED),
        (raw_frame(3, -1, b""), UNSUPPORTED),
        (raw_frame(0, 2, b""), UNSUPPORTED),
        (raw_frame(-1, 0, b""), UNSUPPORTED),
    ],
)
def test_invalid_bytes_close_their_connection_after_earlier_responses(
    kafka: FakeKafka, client: FakeClient, data: bytes, reason: str
) -> None:
    """Requests behind them do not run, and other connections stay."""
    other = kafka.client()
    client.transport.receive(frame(metadata("t"), 12) + data + frame(produce(), 9))
    kafka.run()
    assert client.closed
    assert client.why_closed() == reason
    assert len(client.frames()) == 1
    assert kafka.partition().end.next_offset == 0
    assert kinds([other.request(metadata("t"), 12)]) == ["Metadata"]
    assert len(kafka.shared.sessions) == 1


BODY = b"".join(metadata("t").encode(1))


@pytest.mark.parametrize(
    ("data", "client_id"),
    [
        (raw_frame(3, 1, BODY + b"bytes after the body"), "a-client"),
        (raw_frame(3, 1, BODY, client_id=None), None),
        (struct.pack(">ihhih", 13 + len(BODY), 3, 1, 7, 3) + b"\xff\x00a" + BODY, "\ufffd\0a"),
        (
            raw_frame(3, 12, b"\x02\x05\x03tag\x09\x00" + b"".join(metadata("t").encode(12))),
            "a-client",
        ),
    ],
)
def test_unusual_bytes_are_accepted(
    kafka: FakeKafka, client: FakeClient, data: bytes, client_id: str | None
) -> None:
    """Bytes after the body, any client id, unknown tagged fields in the header."""
    client.transport.receive(data)
    kafka.run()
    assert not client.closed
    assert client.session.client.client_id == client_id
    assert len(client.frames()) == 1


# ---- limits of connections


@pytest.mark.parametrize(
    ("settings", "addresses", "reason"),
    [
        ({"max_connections": "2"}, ("a", "b", "c"), "max_connections"),
        ({"max_connections_per_ip": "1"}, ("a", "b", "a"), "max_connections_per_ip"),
    ],
)
def test_a_connection_above_a_limit_is_refused(
    settings: dict[str, str], addresses: tuple[str, ...], reason: str
) -> None:
    kafka = FakeKafka(**settings)
    first, second, third = (kafka.client(address) for address in addresses)
    kafka.run()
    assert (first.closed, second.closed, third.transport.aborted) == (False, False, True)
    assert kafka.events.of("connection_refused")[0]["reason"] == reason
    first.transport.drop()
    kafka.run()
    assert not kafka.client(addresses[2]).closed


def test_a_client_can_disconnect_before_it_is_accepted(kafka: FakeKafka) -> None:
    transport = FakeTransport(kafka.scheduler, peername=None)
    transport.connect(Session(kafka.shared, 7, LISTENER))
    kafka.run()
    assert transport.aborted
    assert kafka.shared.sessions == {}


# ---- the end of a connection


def test_a_waiting_fetch_ends_with_its_connection(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(fetch(), 12)
    assert len(kafka.scheduler.timers) == 1
    client.transport.drop()
    kafka.run()
    assert kafka.scheduler.timers == []
    kafka.client().request(produce(), 9)
    assert client.transport.taken == []


def test_a_batch_is_committed_although_its_client_has_disconnected(
    kafka: FakeKafka, client: FakeClient
) -> None:
    other = kafka.client()
    client.send(produce("disconnected"), 9)
    other.send(produce("connected"), 9)
    client.transport.drop()
    kafka.run()
    assert offsets(other.responses()) == [1]
    assert kafka.shared.sessions == {other.session: None}


def test_a_connection_is_closed_once_for_its_first_reason(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.session.close("internal_error")
    client.session.close("slow_reader")
    kafka.run()
    client.session.close("slow_request")
    client.session.abort()
    assert client.why_closed() == "internal_error"


# ---- the request log


def test_the_request_log_has_size_errors_and_stages_of_each_request() -> None:
    log = FakeRequestLog(enabled=True)
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    request_bytes = len(frame(metadata("t", "a b"), 12))
    client.send(metadata("t", "a b"), 12)
    kafka.run()
    response_bytes = len(client.transport.taken[0])
    client.responses()
    client.request(produce(), 9)
    client.send(fetch(offset=1), 12)
    kafka.scheduler.advance(500)
    described, produced, fetched = log.records
    assert (described.kind.title, described.kind.version) == ("Metadata", 12)
    assert described.correlation_id == 1
    assert (described.topics, described.error_codes) == (2, (17,))
    assert (described.bytes_in, described.bytes_out) == (request_bytes, response_bytes)
    assert described.client.client_id == "a-client"
    assert (produced.kind.title, fetched.kind.title) == ("Produce", "Fetch")
    for record in log.records:
        times = [
            *(record.received_ns, record.started_ns, record.decoded_ns, record.handled_ns),
            *(record.completed_ns, record.sent_ns),
        ]
        assert times == sorted(times)
