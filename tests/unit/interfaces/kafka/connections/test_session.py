"""The real Session over a transport without a socket."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.security.principal import ANONYMOUS
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Advertised
from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.fakes.client import LISTENER, FakeClient, FakeKafka, FakeListener, frame, raw_frame
from tests.fakes.logs import FakeRequestLog
from tests.fakes.requests import fetch, kinds, metadata, offsets, produce
from tests.fakes.transport import FakeTransport


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 2)
    return kafka


# ---- order


def test_answers_leave_in_the_order_of_the_requests(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(produce(), 9)
    client.send(metadata("t"), 12)
    client.send(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3)
    client.send(fetch(), 12)
    assert client.answers() == []
    kafka.run()
    assert kinds(client.answers()) == ["Produce", "Metadata", "ApiVersions", "Fetch"]


def test_a_waiting_fetch_holds_back_what_follows_it(kafka: FakeKafka) -> None:
    client, other = kafka.client(), kafka.client()
    client.send(fetch(), 12)
    client.send(metadata("t"), 12)
    client.send(produce("late"), 9)
    kafka.run()
    assert client.answers() == []
    assert kafka.partition().end.next_offset == 0, "the produce must not run ahead"
    other.ask(produce("early"), 9)
    answers = client.answers()
    assert kinds(answers) == ["Fetch", "Metadata", "Produce"]
    assert offsets(answers[2:]) == [1]


def test_a_client_sees_what_it_has_done_before(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.commit.hold()
    topic = CreatableTopic(name="new", num_partitions=3, replication_factor=1)
    client.send(CreateTopicsRequest(topics=[topic]), 7)
    client.send(metadata("new"), 12)
    kafka.run()
    assert client.answers() == []
    kafka.commit.let_go()
    kafka.run()
    _, described = client.answers()
    assert len(described.topics[0].partitions) == 3


def test_produce_requests_run_ahead_of_each_other_and_share_a_commit(kafka: FakeKafka) -> None:
    client = kafka.client()
    commits = kafka.commit.count
    for value in ("a", "b", "c"):
        client.send(produce(value), 9)
    assert kafka.partition().end.next_offset == 3
    kafka.scheduler.run_pass()
    kafka.scheduler.run_pass()
    assert kafka.commit.count == commits + 1
    assert offsets(client.answers()) == [0, 1, 2]


def test_only_produce_requests_run_ahead(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.commit.hold()
    client.send(produce("a"), 9)
    client.send(metadata("t"), 12)
    client.send(produce("b"), 9)
    kafka.run()
    assert kafka.partition().end.next_offset == 1
    kafka.commit.let_go()
    kafka.run()
    assert kinds(client.answers()) == ["Produce", "Metadata", "Produce"]
    client.send(produce("c"), 9)
    client.send(produce("d"), 9)
    assert kafka.partition().end.next_offset == 4


def test_an_answer_that_waits_does_not_hold_back_other_connections(kafka: FakeKafka) -> None:
    waiting, other = kafka.client(), kafka.client()
    waiting.send(fetch(), 12)
    assert kinds([other.ask(metadata("t"), 12)]) == ["Metadata"]
    assert waiting.answers() == []


def test_requests_of_all_connections_share_a_commit(kafka: FakeKafka) -> None:
    clients = [kafka.client() for _ in range(5)]
    commits = kafka.commit.count
    for client in clients:
        client.send(produce(), 9)
    kafka.run()
    assert kafka.commit.count == commits + 1
    assert [offsets(client.answers()) for client in clients] == [[0], [1], [2], [3], [4]]


def test_answers_of_one_pass_leave_in_one_write(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(b"".join(frame(produce(), 9, i) for i in range(10)))
    kafka.run()
    assert client.transport.writes == 1
    assert len(client.frames()) == 10


# ---- quotas


class ProduceQuota:
    """Each Produce request costs 100 ms."""

    unlimited = False

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []

    def throttle_ms(self, *request: Any) -> int:
        self.asked.append(request)
        return 100 if request[2] == "Produce" else 0


@pytest.fixture
def quota(kafka: FakeKafka) -> ProduceQuota:
    quota = ProduceQuota()
    kafka.broker = replace(kafka.broker, quotas=quota)
    FakeListener.__init__(kafka, kafka, kafka.request_log)
    return quota


def test_a_throttled_client_is_answered_at_once_and_then_not_read(
    kafka: FakeKafka, quota: ProduceQuota
) -> None:
    client, other = kafka.client(), kafka.client()
    client.send(produce("a"), 9)
    client.send(produce("b"), 9)
    kafka.run()
    assert [one.throttle_time_ms for one in client.answers()] == [100, 100]
    size_bytes = len(frame(produce("a"), 9))
    assert quota.asked[0][:4] == (ANONYMOUS, "a-client", "Produce", size_bytes)
    client.send(metadata("t"), 12)
    assert not client.transport.reading
    kafka.scheduler.advance(99)
    assert kinds([other.ask(metadata("t"), 12)]) == ["Metadata"]
    assert client.answers() == []
    kafka.scheduler.advance(1)
    [answer] = client.answers()
    assert (kinds([answer]), answer.throttle_time_ms) == (["Metadata"], 0)


def test_requests_that_came_with_a_throttled_one_wait(
    kafka: FakeKafka, quota: ProduceQuota
) -> None:
    client = kafka.client()
    client.send(produce(acks=0), 9)
    client.send(metadata("t"), 12)
    kafka.run()
    assert client.answers() == []
    kafka.scheduler.advance(100)
    assert kinds(client.answers()) == ["Metadata"]


@pytest.mark.parametrize("ends", [Session.drain, Session.abort, FakeTransport.drop])
def test_a_throttled_connection_can_end(
    kafka: FakeKafka, quota: ProduceQuota, ends: Callable[[Any], None]
) -> None:
    client = kafka.client()
    client.ask(produce(), 9)
    ends(client.transport if ends is FakeTransport.drop else client.session)
    kafka.run()
    assert client.closed and not kafka.shared.sessions
    assert not [one for one in kafka.scheduler.timers if "_throttle_over" in repr(one.callback)]


# ---- acks=0


def test_an_unanswered_request_leaves_no_gap(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(produce("a", acks=0), 9)
    client.send(metadata("t"), 12)
    client.send(produce("b", acks=0), 9)
    client.send(produce("c", acks=1), 9)
    kafka.run()
    answers = client.answers()
    assert kinds(answers) == ["Metadata", "Produce"]
    assert offsets(answers[1:]) == [2]
    assert kafka.partition().high_watermark == 3


def test_when_an_unanswered_batch_is_lost_the_connection_ends(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.commit.fail_next("no space left")
    client.send(produce(acks=0), 9)
    kafka.run()
    assert client.closed
    assert client.why_closed() == "produce_failed"


# ---- bytes that are wrong close their connection alone

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
        (raw_frame(17, 1, b""), "sasl_handshake"),
        (raw_frame(3, 14, b""), UNSUPPORTED),
        (raw_frame(3, -1, b""), UNSUPPORTED),
        (raw_frame(0, 2, b""), UNSUPPORTED),
        (raw_frame(-1, 0, b""), UNSUPPORTED),
    ],
)
def test_what_is_wrong_closes_the_connection_with_the_reason(
    kafka: FakeKafka, data: bytes, reason: str
) -> None:
    client, other = kafka.client(), kafka.client()
    client.transport.receive(data)
    kafka.run()
    assert client.closed
    assert client.why_closed() == reason
    assert kinds([other.ask(metadata("t"), 12)]) == ["Metadata"]
    assert len(kafka.shared.sessions) == 1


def test_what_was_answered_before_the_wrong_bytes_is_still_sent(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(frame(metadata("t"), 12) + b"\xff" * 20)
    kafka.run()
    assert client.closed
    assert len(client.frames()) == 1


def test_nothing_runs_after_the_wrong_bytes(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(raw_frame(99, 0, b"") + frame(produce(), 9))
    kafka.run()
    assert kafka.partition().end.next_offset == 0


def test_bytes_after_a_requests_body_are_accepted(kafka: FakeKafka) -> None:
    client = kafka.client()
    body = b"".join(metadata("t").encode(1)) + b"and more"
    client.transport.receive(raw_frame(3, 1, body))
    kafka.run()
    assert not client.closed
    assert len(client.frames()) == 1


def test_a_client_id_may_be_null_or_any_bytes(kafka: FakeKafka) -> None:
    client = kafka.client()
    body = b"".join(metadata("t").encode(1))
    client.transport.receive(raw_frame(3, 1, body, client_id=None))
    kafka.run()
    assert client.session.client.client_id is None
    header = struct.pack(">hhih", 3, 1, 7, 3) + b"\xff\x00a"
    client.transport.receive(struct.pack(">i", len(header) + len(body)) + header + body)
    kafka.run()
    assert client.session.client.client_id == "�\0a"
    assert len(client.frames()) == 2


def test_unknown_tagged_fields_of_a_header_are_skipped(kafka: FakeKafka) -> None:
    client = kafka.client()
    body = b"\x02\x05\x03abc\x09\x00" + b"".join(metadata("t").encode(12))
    client.transport.receive(raw_frame(3, 12, body))
    kafka.run()
    assert len(client.frames()) == 1


# ---- limits of connections


def test_one_connection_too_many_is_refused() -> None:
    kafka = FakeKafka(max_connections="2")
    first, second, third = (kafka.client(address=f"192.0.2.{i}") for i in (1, 2, 3))
    kafka.run()
    assert (first.closed, second.closed, third.transport.aborted) == (False, False, True)
    assert kafka.events.of("connection_refused")[0]["reason"] == "max_connections"
    first.transport.drop()
    kafka.run()
    assert not kafka.client().closed


def test_who_is_gone_before_being_accepted_disturbs_nobody(kafka: FakeKafka) -> None:
    transport = FakeTransport(kafka.scheduler, peername=None)
    transport.connect(Session(kafka.shared, 7, Advertised(LISTENER)))
    kafka.run()
    assert transport.aborted
    assert kafka.shared.sessions == {}


def test_one_connection_too_many_from_an_address_is_refused() -> None:
    kafka = FakeKafka(max_connections_per_ip="1")
    first, second, other = (kafka.client(address) for address in ("a", "a", "b"))
    kafka.run()
    assert (first.closed, second.closed, other.closed) == (False, True, False)
    first.transport.drop()
    kafka.run()
    assert not kafka.client("a").closed


# ---- ends


def test_a_client_that_goes_away_takes_its_waiting_fetch_along(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(), 12)
    assert len(kafka.scheduler.timers) == 1
    client.transport.drop()
    kafka.run()
    assert kafka.scheduler.timers == []
    kafka.client().ask(produce(), 9)
    assert client.transport.taken == []


def test_a_client_that_goes_away_before_its_commit_disturbs_nobody(kafka: FakeKafka) -> None:
    client, other = kafka.client(), kafka.client()
    client.send(produce("gone"), 9)
    other.send(produce("here"), 9)
    client.transport.drop()
    kafka.run()
    assert offsets(other.answers()) == [1]
    assert kafka.shared.sessions == {other.session: None}


def test_closing_twice_is_closing_once(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.session.close("internal_error")
    client.session.close("slow_reader")
    kafka.run()
    assert client.why_closed() == "internal_error"
    client.session.close("slow_request")
    client.session.abort()
    assert client.why_closed() == "internal_error"


# ---- the request log


def test_every_answered_request_is_written_with_where_its_time_went() -> None:
    log = FakeRequestLog(enabled=True)
    kafka = FakeKafka(log)
    kafka.topic("t")
    client: FakeClient = kafka.client()
    sent = len(frame(metadata("t", "a b"), 12))
    client.send(metadata("t", "a b"), 12)
    kafka.run()
    answered = len(client.transport.taken[0])
    client.answers()
    client.ask(produce(), 9)
    client.send(fetch(offset=1), 12)
    kafka.scheduler.advance(500)
    described, produced, fetched = log.records
    assert (described.kind.title, described.kind.version) == ("Metadata", 12)
    assert described.correlation_id == 1
    assert (described.topics, described.error_codes) == (2, (17,))
    assert (described.bytes_in, described.bytes_out) == (sent, answered)
    assert described.client.client_id == "a-client"
    assert (produced.kind.title, fetched.kind.title) == ("Produce", "Fetch")
    for record in log.records:
        times = [
            *(record.received_ns, record.started_ns, record.decoded_ns, record.handled_ns),
            *(record.completed_ns, record.sent_ns),
        ]
        assert times == sorted(times)
