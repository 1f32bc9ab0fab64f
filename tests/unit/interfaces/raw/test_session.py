from __future__ import annotations

import struct

import pytest

from domain.security.access import Operation, ResourceType
from domain.security.quota import CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE, QuotaEntity
from tests.fakes.batches import record_batch
from tests.fakes.raw import TOPIC, FakeRaw, framed

LARGE = b"x" * 300_000


# ---- producers


def test_each_record_gets_its_position_once_it_is_durable() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    raw.run()
    raw.commit.hold()
    producer.send(b"one", b"", b"three")
    raw.run()
    assert (producer.positions(), producer.session.in_flight) == ([], 3)
    raw.commit.let_go()
    raw.run()
    assert producer.positions() == [0, 7, 11]
    producer.send(b"four")
    raw.run()
    assert producer.positions() == [20]


def test_records_that_arrive_together_are_one_batch() -> None:
    raw = FakeRaw()
    raw.produce(b"first")
    commits = raw.commit.count
    raw.produce(*(b"%d" % number for number in range(100)))
    assert raw.commit.count == commits + 1
    assert len(raw.log.headers(raw.existing(TOPIC).partition_ids[0], 0, 10)) == 2


def test_records_arrive_in_pieces_of_any_size() -> None:
    raw = FakeRaw()
    data = b"\1" + framed(b"one", b"", LARGE, b"four")
    for step in (1, 7, 100_001):
        client = raw.connect()
        for start in range(0, len(data), step) if step > 1 else range(30):
            client.transport.send(data[start : start + step])
        if step == 1:
            client.transport.send(data[30:])
        raw.run()
        found = client.positions()
        base = found[0]
        assert [each - base for each in found] == [0, 7, 11, 300_015]
    assert raw.limits.memory.used_bytes == 0


@pytest.mark.parametrize("size", [-1, 1_048_589, 2**31 - 1])
def test_a_record_that_is_too_large_closes_the_connection_behind_the_ones_before(size: int) -> None:
    raw = FakeRaw()
    producer = raw.producer()
    producer.transport.send(framed(b"good") + struct.pack(">i", size) + b"...")
    raw.run()
    assert producer.positions() == [0]
    assert producer.transport.closing
    assert raw.why_closed() == ["malformed_request"]


def test_a_topic_with_small_batches_gets_several() -> None:
    raw = FakeRaw()
    raw.topic(TOPIC, max_message_bytes="100")
    assert raw.produce(*[b"12345678"] * 20) == list(range(0, 240, 12))
    producer = raw.producer()
    producer.send(b"y" * 101)
    raw.run()
    assert producer.transport.closing
    assert raw.why_closed() == ["record_refused"]


def test_a_failed_commit_closes_the_connection_and_its_positions_are_used_again() -> None:
    raw = FakeRaw()
    raw.produce(b"one")
    producer = raw.producer()
    raw.commit.fail_next()
    producer.send(b"lost")
    raw.run()
    assert (producer.positions(), producer.transport.closing) == ([], True)
    assert raw.why_closed() == ["record_refused"]
    assert raw.produce(b"two") == [7]
    assert raw.consumer().records() == [b"one", b"two"]


def test_a_client_that_ends_its_side_gets_its_positions() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    raw.commit.hold()
    producer.send(b"one")
    assert producer.session.eof_received()
    raw.run()
    assert not producer.transport.closing
    raw.commit.let_go()
    raw.run()
    assert (producer.positions(), producer.transport.closing) == ([0], True)
    assert raw.why_closed() == []


def test_half_a_record_is_not_stored() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    producer.transport.send(framed(b"whole") + framed(b"half")[:6])
    producer.transport.drop()
    raw.run()
    assert raw.produce(b"next") == [9]
    assert raw.consumer().records() == [b"whole", b"next"]


def test_producers_wait_while_the_topic_is_created_and_loaded() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    producer.send(b"one", b"two")
    assert not producer.transport.reading
    producer.transport.send(framed(b"three"))
    raw.run()
    assert producer.positions() == [0, 7, 14]
    assert [len(each.partition_ids) for each in raw.broker.catalog] == [1]


def test_draining_completes_what_has_begun() -> None:
    raw = FakeRaw()
    producer, consumer = raw.producer(), raw.consumer()
    raw.commit.hold()
    producer.send(b"one")
    raw.run()
    producer.session.drain()
    consumer.session.drain()
    raw.commit.let_go()
    raw.run()
    assert producer.positions() == [0]
    assert producer.transport.closing and consumer.transport.closing
    assert raw.why_closed() == []


# ---- consumers


def test_a_consumer_gets_history_and_then_what_is_appended() -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two")
    consumer = raw.consumer(7)
    assert consumer.records() == [b"two"]
    raw.produce(b"three")
    assert consumer.records() == [b"three"]
    raw.appended(record_batch([(b"key", b"four", [("h", b"1")], 1_700_000)]), TOPIC)
    assert consumer.records() == [b"four"]


@pytest.mark.parametrize(("start", "first"), [(0, b"one"), (7, b"two"), (14, None)])
def test_a_start_is_where_a_record_begins_or_the_end(start: int, first: bytes | None) -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two")
    consumer = raw.consumer(start)
    assert not consumer.transport.closing
    assert consumer.records()[:1] == ([] if first is None else [first])


@pytest.mark.parametrize("start", [1, 6, 13, 15, 2**63, 2**64 - 1])
def test_other_starts_close_the_connection(start: int) -> None:
    raw = FakeRaw()
    raw.produce(b"one", b"two")
    consumer = raw.consumer(start)
    assert (consumer.records(), consumer.transport.closing) == ([], True)
    assert raw.why_closed() == ["invalid_start"]


@pytest.mark.parametrize("first", [b"\0", b"\3", b"GET / HTTP/1.1", b"\x16\3\1\0\xff"])
def test_another_first_byte_closes_the_connection(first: bytes) -> None:
    raw = FakeRaw()
    client = raw.connect(first)
    raw.run()
    assert client.transport.closing
    assert raw.why_closed() == ["malformed_request"]


def test_a_consumer_sends_nothing_behind_its_start() -> None:
    raw = FakeRaw()
    consumer = raw.consumer()
    consumer.transport.send(b"x")
    raw.run()
    assert consumer.transport.closing
    assert raw.why_closed() == ["malformed_request"]


def test_a_consumer_that_does_not_read_stops_its_stream_only() -> None:
    raw = FakeRaw(connection_unsent_max_bytes="262144")
    for _ in range(20):
        raw.produce(LARGE)
    slow, quick = raw.connect(), raw.connect()
    slow.transport.stop_reading()
    for each in (slow, quick):
        each.transport.send(b"\2" + bytes(8))
    raw.run()
    assert len(quick.received()) == 20 * 300_004
    assert slow.session.unread_bytes < 1_000_000
    slow.transport.read_on()
    raw.run()
    slow.transport.read_on()
    while not slow.transport.reading:
        raw.run()
        slow.transport.read_on()
    raw.run()
    assert len(slow.received()) == 20 * 300_004


def test_the_deletion_of_the_topic_ends_its_stream_and_a_new_one_begins() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    producer.send(b"old")
    raw.run()
    consumer = raw.consumer()
    raw.broker.topics.delete_topics.delete([raw.existing(TOPIC)])
    raw.run()
    assert consumer.transport.closing
    assert raw.why_closed() == ["stream_ended"]
    producer.send(b"lost")
    raw.run()
    assert producer.transport.closing
    assert raw.produce(b"new") == [0]
    assert raw.consumer().records() == [b"new"]


def test_a_consumer_is_not_idle_until_it_ends_its_side() -> None:
    raw = FakeRaw()
    consumer, producer = raw.consumer(), raw.producer()
    assert consumer.session.waiting and not producer.session.waiting
    consumer.session.eof_received()
    raw.run()
    assert not consumer.transport.closing and not consumer.session.waiting


# ---- who may, and how much


def test_rights_on_the_topic_are_asked_for_each_time() -> None:
    raw = FakeRaw()
    producer, consumer = raw.producer(), raw.consumer()
    producer.send(b"one")
    raw.run()
    assert consumer.records() == [b"one"]
    denied: list[tuple[Operation, ResourceType, str]] = []

    def allows(_principal: object, _host: str, *resource: object) -> bool:
        denied.append(resource)  # type: ignore[arg-type]
        return False

    raw.broker.authorizer.allows = allows  # type: ignore[method-assign]
    raw.appended(record_batch(["two"]), TOPIC)
    producer.send(b"three")
    raw.run()
    assert producer.transport.closing and consumer.transport.closing
    assert set(denied) == {
        (Operation.READ, ResourceType.TOPIC, TOPIC),
        (Operation.WRITE, ResourceType.TOPIC, TOPIC),
    }
    assert len(raw.events.of("authorization_denied")) == 2
    assert (producer.positions(), consumer.records()) == ([0], [])


def test_producers_above_their_quota_are_not_read_for_a_while() -> None:
    raw = FakeRaw()
    raw.broker.quotas.put(QuotaEntity(user=""), {PRODUCER_BYTE_RATE: 1000.0})
    producer = raw.producer()
    producer.send(b"x" * 100_000)
    raw.run()
    assert (producer.positions(), producer.transport.reading) == ([0], False)
    raw.scheduler.advance(200_000)
    assert producer.transport.reading


def test_consumers_above_their_quota_get_records_later() -> None:
    raw = FakeRaw()
    raw.produce(b"x" * 100_000)
    raw.broker.quotas.put(QuotaEntity(user=""), {CONSUMER_BYTE_RATE: 100.0})
    first, second = raw.consumer(), raw.consumer()
    got = len(first.received()) + len(second.received())
    assert got <= 100_004
    raw.scheduler.advance(3_000_000)
    assert got + len(first.received()) + len(second.received()) == 200_008


def test_the_topic_is_created_when_the_broker_has_the_right() -> None:
    raw = FakeRaw()
    producer = raw.producer()
    raw.changes.withhold()
    producer.send(b"one", b"two")
    raw.run()
    assert (producer.positions(), raw.store.staged, raw.changes.waiting) == ([], [], 1)
    raw.changes.give()
    raw.run()
    assert producer.positions() == [0, 7]
