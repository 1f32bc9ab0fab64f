from __future__ import annotations

from collections import deque

import pytest

from application.metrics.families.request_counts import STAGES, RequestCounts
from application.metrics.recent_requests import RequestQuery
from application.ports.request_log import RequestRecord
from domain.topics.topic import text_of_id
from interfaces.kafka.requests import accounting
from interfaces.kafka.requests.apis import FETCH, PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from tests.fakes.client import FakeClient, FakeKafka, frame
from tests.fakes.logs import FakeRequestLog
from tests.fakes.requests import fetch, metadata, produce

METADATA = 3


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


def counts(kafka: FakeKafka, key: int, version: int) -> RequestCounts:
    return kafka.shared.routes.made[key, version].counts


def detailed(found: RequestCounts) -> int:
    """Number of requests with known stages."""
    return sum(found.stages["wait"].places)


def recent(kafka: FakeKafka, **query: object) -> list[RequestRecord]:
    """The newest first."""
    found = kafka.shared.request_accounting.recent.find(RequestQuery(**query))  # type: ignore[arg-type]
    return [one for some in found for one in some]


# ---- order of responses


def calls(kafka: FakeKafka, number: int) -> list[Call]:
    session = kafka.client().session
    route = kafka.shared.routes.find(PRODUCE, 9)
    assert route is not None
    return [Call(session, route, one, 100, 1) for one in range(number)]


def test_responses_are_taken_in_the_order_of_the_requests(kafka: FakeKafka) -> None:
    first, second, third = calls(kafka, 3)
    waiting = deque([first, second, third])
    for call, response in ((third, b"c"), (second, b"b")):
        call.pieces, call.bytes_out = [response], 1
    take = kafka.shared.request_accounting.take
    assert take(waiting) == (0, [])
    first.pieces, first.bytes_out = [b"a1", b"a2"], 4
    assert take(waiting) == (6, [b"a1", b"a2", b"b", b"c"])
    assert take(waiting) == (0, [])


def test_a_request_without_a_response_is_passed_and_records_are_not_copied(
    kafka: FakeKafka,
) -> None:
    without, completed, incomplete = calls(kafka, 3)
    records = memoryview(b"x" * 1000)
    without.pieces, without.bytes_out = [], 0
    completed.pieces, completed.bytes_out = [b"ab", records], 1002
    waiting = deque([without, completed, incomplete])
    size_bytes, pieces = kafka.shared.request_accounting.take(waiting)
    assert (size_bytes, list(waiting)) == (1002, [incomplete])
    assert pieces[1] is records


# ---- counts


def test_requests_bytes_and_errors_are_counted_by_api_and_version(
    kafka: FakeKafka, client: FakeClient
) -> None:
    """An error that a response has twice is counted once."""
    sent = frame(produce("x"), 9)
    for _ in range(3):
        client.transport.send(sent)
        kafka.run()
    received = b"".join(client.transport.taken)
    client.transport.taken.clear()
    client.transport.send(frame(produce("x"), 7))
    kafka.run()
    ninth = counts(kafka, PRODUCE, 9)
    assert (ninth.requests, counts(kafka, PRODUCE, 7).requests) == (3, 1)
    assert (ninth.bytes_in, ninth.bytes_out) == (3 * len(sent), len(received))
    assert ninth.errors == {}
    client.frames()
    other = kafka.client()
    other.request(metadata("a b", "c d", "t"), 12)
    other.request(metadata("t"), 12)
    described = counts(kafka, METADATA, 12)
    assert (described.requests, described.errors) == (2, {17: 1})


def test_a_request_of_a_closed_connection_is_counted_separately(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(max_wait_ms=100), 12)
    client.session.abort()
    kafka.run()
    found = counts(kafka, FETCH, 12)
    assert (found.requests, found.without_response) == (0, 1)


def test_the_stages_of_a_request_add_up_to_its_duration(
    kafka: FakeKafka, client: FakeClient
) -> None:
    for _ in range(5):
        client.request(produce(), 9)
    found = counts(kafka, PRODUCE, 9)
    assert found.requests == 5
    for stage in STAGES:
        assert sum(found.stages[stage].places) == 5
    assert sum(found.stages[stage].sum for stage in STAGES) == found.total.sum > 0
    client.send(fetch(max_wait_ms=100, offset=9), 12)
    kafka.scheduler.advance(100)
    total = counts(kafka, FETCH, 12).total
    assert total.places.index(1) == total.sum.bit_length()


def test_only_some_requests_a_second_have_stages_and_all_are_counted(
    kafka: FakeKafka, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 10**15
    monkeypatch.setattr(accounting, "perf_counter_ns", lambda: now_ns)
    monkeypatch.setattr(accounting, "DETAILED_A_TENTH", 1)
    monkeypatch.setattr(accounting, "DETAILED_AT_ONCE", 2)
    found = None
    for tenths, requests, expected in ((0, 5, (5, 2)), (1, 3, (8, 3)), (100, 5, (13, 5))):
        now_ns += tenths * accounting.TENTH_NS
        for _ in range(requests):
            client.request(produce(), 9)
        found = counts(kafka, PRODUCE, 9)
        assert (found.requests, detailed(found)) == expected


@pytest.fixture
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounting, "DETAILED_A_TENTH", 0)
    monkeypatch.setattr(accounting, "DETAILED_AT_ONCE", 0)


@pytest.mark.usefixtures("unsampled")
def test_a_failed_request_is_logged_and_remembered_although_it_is_not_sampled() -> None:
    log = FakeRequestLog(enabled=True, slow_ns=1 << 62)
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    client.request(metadata("t"), 12)
    client.request(metadata("a b"), 12)
    assert [one.correlation_id for one in log.records] == [2]
    assert [one.correlation_id for one in recent(kafka)] == [2]


@pytest.mark.usefixtures("unsampled")
def test_a_failed_repeated_produce_is_logged_although_it_is_not_sampled() -> None:
    log = FakeRequestLog(enabled=True, slow_ns=1 << 62)
    log.quick_ns = 1 << 63  # as with log.requests=errors
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    for _ in range(3):
        client.request(produce(), 9)
    kafka.commit.fail_next()
    client.request(produce(), 9)
    [record] = log.records
    assert (record.correlation_id, record.error_names) == (4, ("KAFKA_STORAGE_ERROR",))
    assert record.received_ns == record.handled_ns < record.completed_ns == record.sent_ns
    found = counts(kafka, PRODUCE, 9)
    assert found.requests == 4 > detailed(found)


# ---- recent requests


def test_the_newest_requests_and_older_failures_are_remembered() -> None:
    kafka = FakeKafka(requests_recent_max="10")
    kafka.topic("t")
    client = kafka.client()
    unknown = produce()
    unknown.topic_data[0].name = "absent"
    client.request(unknown, 9)
    for _ in range(50):
        client.request(metadata("t"), 12)
    [found] = recent(kafka, correlation_id="1")
    assert found.error_names == ("UNKNOWN_TOPIC_OR_PARTITION",)
    assert found.client.peer == "192.0.2.7:40001"
    newest = recent(kafka, client_id="a-client")
    assert [one.correlation_id for one in newest] == [*range(51, 41, -1), 1]
    assert [newest[0].kind.title, newest[-1].kind.title] == ["Metadata", "Produce"]


def test_a_topic_id_is_shown_as_the_name_of_the_topic(kafka: FakeKafka, client: FakeClient) -> None:
    request = fetch(max_wait_ms=0)
    for topic_id in (kafka.existing("t").topic_id, bytes(range(16))):
        request.topics[0].topic, request.topics[0].topic_id = "", topic_id
        client.request(request, 13)
    unknown, known = recent(kafka, api="Fetch")
    assert known.log_subject == ("topic", "t")
    assert unknown.log_subject == ("topic_id", text_of_id(bytes(range(16))))


def test_long_names_are_remembered_in_part(kafka: FakeKafka, client: FakeClient) -> None:
    """Client ids when the connection is closed."""
    request = DescribeGroupsRequest(groups=["g" * 30_000])
    client.transport.send(frame(request, 5, client_id="x" * 30_000))
    kafka.run()
    client.session.abort()
    kafka.run()
    [record] = recent(kafka)
    assert record.client.client_id == "x" * 200
    assert record.log_subject == ("group", "g" * 200)
