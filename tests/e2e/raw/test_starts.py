"""Where consumers start: restarts, removed records, offsets of no record; and torn records."""

from __future__ import annotations

import socket
import struct
from itertools import takewhile

import pytest
from confluent_kafka import TopicPartition

from tests.e2e.librdkafka import PATIENCE_S, admin
from tests.e2e.raw.conftest import TOPIC, RawBroker, StartRaw
from tests.e2e.raw.stream import framed, positions

RECORDS = [b"x" * (7 * number % 50) + b"%d" % number for number in range(100)]


def delete_before(raw: RawBroker, kafka_offset: int) -> None:
    place = TopicPartition(TOPIC, 0, kafka_offset)
    client = admin(raw.bootstrap)
    client.delete_records([place])[place].result(PATIENCE_S)


def consumed(raw: RawBroker, start: int, count: int) -> list[bytes]:
    with raw.consumer(start) as consumer:
        return consumer.records(count)


def test_offsets_are_the_same_after_a_kill(start_raw: StartRaw) -> None:
    raw = start_raw()
    offsets = raw.produce(*RECORDS)
    assert offsets == positions(RECORDS)[:-1]
    raw.restart()
    for number in (0, 1, 50, 99):
        assert consumed(raw, offsets[number], 1) == [RECORDS[number]]
    assert raw.produce(b"next") == [positions(RECORDS)[-1]]
    raw.restart()
    assert consumed(raw, offsets[98], 3) == [*RECORDS[98:], b"next"]


def test_a_start_at_no_record_closes_the_connection(start_raw: StartRaw) -> None:
    raw = start_raw(engine="memory")
    assert raw.produce(b"abc") == [0]
    with raw.consumer(8) as consumer:
        assert consumer.rest() == b""
    # Later ones of a host are logged once a minute.
    line = raw.process.log_line("8 is beyond the end of the stream, 7")
    assert '"reason":"invalid_start"' in line
    for start in (1, 6):
        with raw.consumer(start) as consumer:
            assert consumer.rest() == b""
    assert raw.produce(b"the stream goes on") == [7]


@pytest.mark.parametrize("first", [b"GET / HTTP/1.1\r\n\r\n", b"\x00", b"\x02" + bytes(9)])
def test_what_is_no_raw_stream_closes_the_connection(first: bytes, raw: RawBroker) -> None:
    with socket.create_connection(("127.0.0.1", raw.port), PATIENCE_S) as client:
        client.sendall(first)
        assert client.recv(1) == b""


def test_a_start_before_the_oldest_record_begins_there(start_raw: StartRaw) -> None:
    raw = start_raw()
    offsets = raw.produce(*RECORDS)
    delete_before(raw, 40)
    for start in (0, offsets[39], offsets[40]):
        assert consumed(raw, start, 60) == RECORDS[40:]
    assert consumed(raw, offsets[99], 1) == RECORDS[99:]
    delete_before(raw, 100)
    raw.restart()
    [next_offset] = raw.produce(b"next")
    assert next_offset == positions(RECORDS)[-1]
    assert consumed(raw, 0, 1) == [b"next"]


def test_a_start_before_the_oldest_record_may_be_refused(start_raw: StartRaw) -> None:
    raw = start_raw("--set", "raw.auto.offset.reset=none")
    offsets = raw.produce(*RECORDS)
    delete_before(raw, 40)
    with raw.consumer(offsets[39]) as consumer:
        assert consumer.rest() == b""
    assert '"reason":"invalid_start"' in raw.process.log_line("were removed")
    assert consumed(raw, offsets[40], 60) == RECORDS[40:]


@pytest.mark.parametrize("reset", ["earliest", "none"])
def test_records_may_be_removed_before_a_slow_reader_gets_them(
    reset: str, start_raw: StartRaw
) -> None:
    """Far more than buffers hold."""
    raw = start_raw("--set", f"raw.auto.offset.reset={reset}", engine="memory")
    count, large = 300, b"x" * 100_000
    with raw.producer() as producer:
        for _ in range(count // 10):
            producer.produce(*[large] * 10)
    with raw.consumer() as slow:
        assert slow.record() == large
        raw.produce(b"last")
        delete_before(raw, count)
        if reset == "earliest":
            received = len(list(takewhile(lambda record: record != b"last", slow)))
        else:
            received = len(slow.rest()) // len(framed(large))
            assert '"reason":"invalid_start"' in raw.process.log_line("were removed")
    assert received < count / 2


def test_a_deleted_topic_ends_its_consumers_and_begins_again_at_zero(start_raw: StartRaw) -> None:
    raw = start_raw(engine="memory")
    raw.produce(b"one", b"two")
    with raw.consumer() as consumer:
        assert consumer.records(2) == [b"one", b"two"]
        client = admin(raw.bootstrap)
        client.delete_topics([TOPIC])[TOPIC].result(PATIENCE_S)
        assert consumer.rest() == b""
    assert '"reason":"stream_ended"' in raw.process.log_line("connection_closed")
    assert raw.produce(b"new") == [0]


@pytest.mark.parametrize("size, sent", [(4, 2), (4, 6), (500_000, 500_003)])
@pytest.mark.parametrize("reset", [False, True])
def test_a_producer_that_dies_within_a_record_leaves_nothing_of_it(
    size: int, sent: int, reset: bool, raw: RawBroker, end: int
) -> None:
    producer = raw.producer()
    assert producer.produce(b"whole") == [end]
    producer.socket.sendall(framed(bytes(size))[:sent])
    if reset:  # as a power cut of its machine, once it is back
        producer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        producer.close()
    else:
        producer.end_sending()
        assert producer.rest() == b""
        producer.close()
    assert raw.produce(b"next") == [end + 9]
    assert consumed(raw, end, 2) == [b"whole", b"next"]


def test_a_record_above_the_limit_closes_the_connection_after_the_others(
    start_raw: StartRaw,
) -> None:
    raw, end = start_raw(engine="memory"), 0
    with raw.producer() as producer:
        producer.socket.sendall(framed(b"small") + struct.pack(">I", 1_048_589))
        assert producer.offsets(1) == [end]
        assert producer.rest() == b""
    assert '"reason":"malformed_request"' in raw.process.log_line("1048589 bytes is larger")
    with raw.producer() as producer:
        producer.send(b"x" * 1_048_588)  # its batch is larger than max.message.bytes of the topic
        assert producer.rest() == b""
    assert '"reason":"record_refused"' in raw.process.log_line("record_refused")
    largest = b"x" * (1_048_588 - 80)
    assert raw.produce(largest) == [end + 9]
    assert consumed(raw, end, 2) == [b"small", largest]
