from __future__ import annotations

import pytest

from application.metrics.recent_requests import Wanted
from application.metrics.request_counts import STAGES, RequestCounts
from interfaces.kafka import ledger
from interfaces.kafka.routes import FETCH, PRODUCE
from interfaces.kafka.wire.messages.describe_groups import DescribeGroupsRequest
from tests.fakes.client import FakeKafka, frame
from tests.fakes.logs import FakeRequestLog
from tests.fakes.requests import fetch, metadata, produce


def counts(kafka: FakeKafka, key: int, version: int) -> RequestCounts:
    return kafka.shared.routes.made[key, version].counts


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


def test_the_stages_of_a_request_add_up_to_the_whole(kafka: FakeKafka) -> None:
    client = kafka.client()
    for _ in range(5):
        client.ask(produce(), 9)
    kept = counts(kafka, PRODUCE, 9)
    assert kept.detailed == kept.requests == 5
    for stage in (*STAGES, "total"):
        assert sum(kept.stage(stage)[0]) == 5
    assert sum(kept.stage(stage)[1] for stage in STAGES) == kept.stage("total")[1] > 0


def test_a_duration_stands_in_the_place_of_its_bits(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.send(fetch(max_wait_ms=100), 12)
    kafka.scheduler.advance(100)
    assert client.answers()
    places, total_ns = counts(kafka, FETCH, 12).stage("total")
    assert places.index(1) == total_ns.bit_length()


def test_only_so_many_a_second_are_looked_at_closely_but_all_are_counted(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 10**15
    monkeypatch.setattr(ledger, "DETAILED_A_SECOND", 2)
    monkeypatch.setattr(ledger, "perf_counter_ns", lambda: now_ns)
    client = kafka.client()
    for _ in range(5):
        client.ask(produce(), 9)
    kept = counts(kafka, PRODUCE, 9)
    assert (kept.requests, kept.detailed) == (5, 2)
    now_ns += ledger.SECOND_NS
    client.ask(produce(), 9)
    assert (kept.requests, kept.detailed) == (6, 3)


def test_what_failed_or_was_slow_is_always_looked_at_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger, "DETAILED_A_SECOND", 0)
    log = FakeRequestLog(enabled=True, slow_ns=1 << 62)
    kafka = FakeKafka(log)
    kafka.topic("t")
    client = kafka.client()
    client.ask(metadata("t"), 12)
    client.ask(metadata("a b"), 12)
    assert [one.correlation_id for one in log.records] == [2]
    [remembered] = kafka.shared.ledger.recent.find(Wanted())
    assert [one.correlation_id for one in remembered] == [2]


def test_the_newest_requests_are_remembered_without_their_answers(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.ask(produce(), 9)
    client.ask(fetch(), 12)
    [[newest, before]] = kafka.shared.ledger.recent.find(Wanted(client_id="a-client"))
    assert (newest.api, before.api) == ("Fetch", "Produce")
    assert newest.client.peer == "192.0.2.7:40001"


def test_of_a_connection_that_is_gone_no_long_name_is_remembered(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.send(frame(metadata("t"), 12, client_id="x" * 30_000))
    kafka.run()
    client.session.abort()
    kafka.run()
    [[record]] = kafka.shared.ledger.recent.find(Wanted())
    assert record.client.client_id == "x" * 200


def test_no_long_name_of_what_it_concerns_is_remembered(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.ask(DescribeGroupsRequest(groups=["g" * 30_000]), 5)
    [[record]] = kafka.shared.ledger.recent.find(Wanted())
    assert record.about == ("group", "g" * 200)
