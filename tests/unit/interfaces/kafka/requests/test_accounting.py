from __future__ import annotations

from collections import deque

import pytest

from application.metrics.families.request_counts import STAGES, RequestCounts
from application.metrics.recent_requests import RequestQuery
from domain.topics.topic import text_of_id
from interfaces.kafka.requests import accounting
from interfaces.kafka.requests.apis import FETCH, PRODUCE
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from tests.fakes.client import FakeKafka, frame
from tests.fakes.logs import FakeRequestLog
from tests.fakes.requests import fetch, metadata, produce


def counts(kafka: FakeKafka, key: int, version: int) -> RequestCounts:
    return kafka.shared.routes.made[key, version].counts


def detailed(kept: RequestCounts) -> int:
    """Of how many the stages are known."""
    return sum(kept.stages["wait"].places)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


def test_requests_and_their_bytes_are_counted_by_api_and_version(kafka: FakeKafka) -> None:
    client = kafka.client()
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


def test_an_answer_with_errors_counts_each_of_them_once(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.ask(metadata("a b", "c d", "t"), 12)
    client.ask(metadata("t"), 12)
    assert counts(kafka, 3, 12).errors == {17: 1}
    assert counts(kafka, 3, 12).requests == 2


def test_answers_leave_in_the_order_of_the_requests(kafka: FakeKafka) -> None:
    peer = kafka.client().session
    route = kafka.shared.routes.find(PRODUCE, 9)
    assert route is not None
    first, second, third = (Call(peer, route, number, 100, 1) for number in range(3))
    waiting = deque([first, second, third])
    for call, answer in ((third, b"c"), (second, b"b")):
        call.pieces, call.bytes_out = [answer], 1
    assert kafka.shared.request_accounting.take(waiting) == (0, [])
    first.pieces, first.bytes_out = [b"a1", b"a2"], 4
    assert kafka.shared.request_accounting.take(waiting) == (6, [b"a1", b"a2", b"b", b"c"])
    assert kafka.shared.request_accounting.take(waiting) == (0, [])


def test_no_answer_at_all_holds_nothing_back_and_pieces_leave_as_they_are(kafka: FakeKafka) -> None:
    peer = kafka.client().session
    route = kafka.shared.routes.find(PRODUCE, 9)
    assert route is not None
    nothing, answered, unanswered = (Call(peer, route, number, 100, 1) for number in range(3))
    records = memoryview(b"x" * 1000)
    nothing.pieces, nothing.bytes_out = [], 0
    answered.pieces, answered.bytes_out = [b"ab", records], 1002
    waiting = deque([nothing, answered, unanswered])
    size_bytes, pieces = kafka.shared.request_accounting.take(waiting)
    assert (size_bytes, list(waiting)) == (1002, [unanswered])
    assert pieces[1] is records


def test_the_stages_of_a_request_add_up_to_the_whole(kafka: FakeKafka) -> None:
    client = kafka.client()
    for _ in range(5):
        client.ask(produce(), 9)
    kept = counts(kafka, PRODUCE, 9)
    assert kept.requests == 5
    for stage in STAGES:
        assert sum(kept.stages[stage].places) == 5
    assert sum(kept.stages[stage].sum for stage in STAGES) == kept.total.sum > 0


def test_a_duration_stands_in_the_place_of_its_bits(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(max_wait_ms=100), 12)
    kafka.scheduler.advance(100)
    assert client.answers()
    total = counts(kafka, FETCH, 12).total
    assert total.places.index(1) == total.sum.bit_length()


def test_only_so_many_a_second_are_looked_at_closely_but_all_are_counted(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 10**15
    monkeypatch.setattr(accounting, "perf_counter_ns", lambda: now_ns)
    monkeypatch.setattr(accounting, "DETAILED_A_TENTH", 1)
    monkeypatch.setattr(accounting, "DETAILED_AT_ONCE", 2)
    client = kafka.client()
    for _ in range(5):
        client.ask(produce(), 9)
    kept = counts(kafka, PRODUCE, 9)
    assert (kept.requests, detailed(kept)) == (5, 2)
    now_ns += accounting.TENTH_NS
    for _ in range(3):
        client.ask(produce(), 9)
    assert (kept.requests, detailed(kept)) == (8, 3)
    now_ns += 100 * accounting.TENTH_NS
    for _ in range(5):
        client.ask(produce(), 9)
    assert (kept.requests, detailed(kept)) == (13, 5)


@pytest.fixture
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounting, "DETAILED_A_TENTH", 0)
    monkeypatch.setattr(accounting, "DETAILED_AT_ONCE", 0)


@pytest.mark.usefixtures("unsampled")
def test_what_failed_or_was_slow_is_always_looked_at_closely() -> None:
    log = FakeRequestLog(enabled=True, slow_ns=1 << 62)
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    client.ask(metadata("t"), 12)
    client.ask(metadata("a b"), 12)
    assert [one.correlation_id for one in log.records] == [2]
    [remembered] = kafka.shared.request_accounting.recent.find(RequestQuery())
    assert [one.correlation_id for one in remembered] == [2]


@pytest.mark.usefixtures("unsampled")
def test_a_repeated_produce_that_nobody_looked_at_on_its_way_is_told_where_it_fails() -> None:
    log = FakeRequestLog(enabled=True, slow_ns=1 << 62)
    log.quick_ns = 1 << 63  # as with log.requests=errors
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    for _ in range(3):
        client.ask(produce(), 9)
    kafka.commit.fail_next()
    client.ask(produce(), 9)
    [record] = log.records
    assert (record.correlation_id, record.error_names) == (4, ("KAFKA_STORAGE_ERROR",))
    assert record.received_ns == record.handled_ns < record.completed_ns == record.sent_ns
    kept = counts(kafka, PRODUCE, 9)
    assert kept.requests == 4 > detailed(kept)


def test_a_failed_request_is_found_when_many_others_have_come_since() -> None:
    kafka = FakeKafka(requests_recent_max="10")
    kafka.topic("t")
    client = kafka.client()
    unknown = produce()
    unknown.topic_data[0].name = "gone"
    client.ask(unknown, 9)
    for _ in range(50):
        client.ask(metadata("t"), 12)
    recent = kafka.shared.request_accounting.recent
    [found] = [one for some in recent.find(RequestQuery(correlation_id=1)) for one in some]
    assert found.error_names == ("UNKNOWN_TOPIC_OR_PARTITION",)
    everything = [one.correlation_id for some in recent.find(RequestQuery()) for one in some]
    assert everything == [*range(51, 41, -1), 1]


def test_a_topic_given_by_its_id_is_shown_by_its_name(kafka: FakeKafka) -> None:
    topic = kafka.existing("t")
    client = kafka.client()
    by_id = fetch(max_wait_ms=0)
    by_id.topics[0].topic, by_id.topics[0].topic_id = "", topic.topic_id
    client.ask(by_id, 13)
    by_id.topics[0].topic_id = bytes(range(16))
    client.ask(by_id, 13)
    recent = kafka.shared.request_accounting.recent
    [[unknown, known]] = recent.find(RequestQuery(api="Fetch"))
    assert known.log_subject == ("topic", "t")
    assert unknown.log_subject == ("topic_id", text_of_id(bytes(range(16))))


def test_who_is_gone_before_the_answer_is_counted_apart(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(max_wait_ms=100), 12)
    client.session.abort()
    kafka.run()
    kept = counts(kafka, FETCH, 12)
    assert (kept.requests, kept.unanswered) == (0, 1)


def test_the_newest_requests_are_remembered_without_their_answers(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.ask(produce(), 9)
    client.ask(fetch(), 12)
    [[newest, before]] = kafka.shared.request_accounting.recent.find(
        RequestQuery(client_id="a-client")
    )
    assert (newest.kind.title, before.kind.title) == ("Fetch", "Produce")
    assert newest.client.peer == "192.0.2.7:40001"


def test_of_a_connection_that_is_gone_no_long_name_is_remembered(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.send(frame(metadata("t"), 12, client_id="x" * 30_000))
    kafka.run()
    client.session.abort()
    kafka.run()
    [[record]] = kafka.shared.request_accounting.recent.find(RequestQuery())
    assert record.client.client_id == "x" * 200


def test_no_long_name_of_what_it_concerns_is_remembered(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.ask(DescribeGroupsRequest(groups=["g" * 30_000]), 5)
    [[record]] = kafka.shared.request_accounting.recent.find(RequestQuery())
    assert record.log_subject == ("group", "g" * 200)
