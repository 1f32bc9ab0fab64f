"""Sockets that behave as no library would, and what the broker makes of them."""

from __future__ import annotations

import os
import resource
import selectors
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import EXTERNAL, Broker, CreateTopic, StartBroker, new_topic
from tests.e2e.raw_client import (
    API_VERSIONS,
    FETCH,
    LIST_OFFSETS,
    METADATA,
    PRODUCE,
    RawClient,
    array,
    batch,
    fetch_body,
    frame,
    produce_body,
    read_fetched,
    read_produced,
    sealed_part,
    split_batches,
    string,
)

MIB = 1 << 20


@pytest.fixture
def broker(one_broker: Broker) -> Broker:
    return one_broker


@contextmanager
def connections(broker: Broker, count: int) -> Iterator[list[RawClient]]:
    with ExitStack() as opened:
        yield [opened.enter_context(broker.connect()) for _ in range(count)]


def works(broker: Broker, topic: str) -> None:
    """Somebody else, meanwhile: produces a message and reads it."""
    with broker.connect() as client:
        sent = batch([os.urandom(20)])
        report = client.produce(topic, sent)
        assert report.error == 0
        _, found = split_batches(client.fetch(topic, report.base_offset).records)[0]
        assert sealed_part(found) == sealed_part(sent)


def test_two_hundred_connections_produce_and_fetch_at_once(
    broker: Broker, create_topic: CreateTopic
) -> None:
    topic = create_topic(4)
    sent = [batch([b"connection %d" % number]) for number in range(200)]
    with connections(broker, 200) as clients:
        for round_number in range(3):
            for number, client in enumerate(clients):
                client.send(PRODUCE, 7, produce_body(topic, number % 4, sent[number]))
            for number, client in enumerate(clients):
                _, response = client.receive()
                error, offset = read_produced(response)
                assert error == 0
                client.send(FETCH, 4, fetch_body(topic, number % 4, offset, max_wait_ms=10_000))
            for number, client in enumerate(clients):
                _, response = client.receive()
                _, found = split_batches(read_fetched(response).records)[0]
                assert sealed_part(found) == sealed_part(sent[number]), round_number
        assert [clients[0].end_offset(topic, partition) for partition in range(4)] == [150] * 4


def test_two_hundred_consumers_wait_for_one_message(broker: Broker, topic: str) -> None:
    sent = batch([b"for all of you"])
    with connections(broker, 200) as clients:
        for client in clients:
            client.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=60_000))
        with broker.connect() as producer:
            assert producer.produce(topic, sent).error == 0
        for client in clients:
            _, response = client.receive()
            ((offset, found),) = split_batches(read_fetched(response).records)
            assert (offset, sealed_part(found)) == (0, sealed_part(sent))


def test_pipelined_requests_get_their_responses_in_order(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        sent = []
        for number in range(50):
            sent.append(client.send(PRODUCE, 7, produce_body(topic, 0, batch([b"%d" % number]))))
            sent.append(client.send(API_VERSIONS, 0))
            sent.append(client.send(METADATA, 1, array([string(topic)])))
            sent.append(client.send(FETCH, 4, fetch_body(topic, 0, number)))
        offsets = []
        for number, correlation_id in enumerate(sent):
            received, response = client.receive()
            assert received == correlation_id
            if number % 4 == 0:
                offsets.append(read_produced(response).base_offset)
            if number % 4 == 3:
                assert split_batches(read_fetched(response).records)[0][0] == number // 4
        assert offsets == list(range(50))


def test_requests_behind_a_waiting_fetch_wait(broker: Broker, topic: str) -> None:
    with broker.connect() as waiting, broker.connect() as producer:
        fetch = waiting.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=60_000))
        versions = waiting.send(API_VERSIONS, 0)
        own = waiting.send(PRODUCE, 7, produce_body(topic, 0, batch([b"mine"])))
        assert producer.produce(topic, batch([b"from another"])).error == 0
        assert waiting.receive()[0] == fetch
        assert waiting.receive()[0] == versions
        assert waiting.receive()[0] == own


def test_a_fetch_without_data_returns_empty_after_its_wait(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        assert client.fetch(topic, 0, max_wait_ms=50) == (0, 0, b"")
        started = time.monotonic()
        assert client.fetch(topic, 0, max_wait_ms=300).records == b""
        assert time.monotonic() - started >= 0.25


def test_a_fetch_waits_for_its_min_bytes(broker: Broker, topic: str) -> None:
    small = batch([bytes(1_000)])
    limits = {"max_wait_ms": 60_000, "min_bytes": 3 * len(small)}
    with broker.connect() as waiting, broker.connect() as producer:
        waiting.send(FETCH, 4, fetch_body(topic, 0, 0, **limits))
        for _ in range(3):
            producer.produce(topic, small)
        response = read_fetched(waiting.receive()[1])
        assert len(split_batches(response.records)) == 3


def test_half_a_frame_does_not_affect_other_clients(broker: Broker, topic: str) -> None:
    whole = frame(PRODUCE, 7, 1, produce_body(topic, 0, batch([bytes(100_000)])))
    with broker.connect() as slow:
        for cut in (2, 4, 9, 60, len(whole) // 2, len(whole) - 1):
            with broker.connect() as leaves:
                leaves.socket.sendall(whole[:cut])
        slow.socket.sendall(whole[: len(whole) // 2])
        works(broker, topic)
        slow.socket.sendall(whole[len(whole) // 2 :])
        assert read_produced(slow.receive()[1]) == (0, 1)


def test_a_frame_can_arrive_byte_by_byte(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        for byte in frame(PRODUCE, 7, 1, produce_body(topic, 0, batch([b"drop by drop"]))):
            client.socket.sendall(bytes([byte]))
        assert read_produced(client.receive()[1]) == (0, 0)


GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls": bytes.fromhex("16030100f4010000f00303") + bytes(240),
    "negative-length": struct.pack(">i", -5) + bytes(20),
    "empty-frame": struct.pack(">i", 0) + bytes(20),
    "huge-length": struct.pack(">i", 2**31 - 1) + bytes(20),
    "unknown-api": frame(9_999, 0, 1, b""),
    "unknown-version": frame(METADATA, 99, 1, b""),
    "cut-header": struct.pack(">ih", 2, METADATA),
    "cut-body": frame(METADATA, 1, 1, struct.pack(">i", 5)),
    "giant-array": frame(METADATA, 1, 1, struct.pack(">i", 2**31 - 1)),
    "produce-0": frame(PRODUCE, 0, 1, bytes(30)),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_closes_that_connection_only(broker: Broker, topic: str, kind: str) -> None:
    with broker.connect() as other, broker.connect() as bad:
        other.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=60_000))
        bad.socket.sendall(GARBAGE[kind])
        assert bad.is_closed_by_peer()
        works(broker, topic)
        assert len(split_batches(read_fetched(other.receive()[1]).records)) == 1


@pytest.mark.skipif(bool(EXTERNAL), reason="OTTLA_TEST_BOOTSTRAP names another broker")
def test_a_tls_client_is_sent_a_fatal_alert(broker: Broker) -> None:
    """Without it Java's client tries again until its timeout, which names no reason."""
    with (
        broker.connect() as client,
        pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"),
    ):
        ssl.create_default_context().wrap_socket(client.socket, server_hostname="localhost")


def test_requests_before_garbage_get_responses(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        good = frame(PRODUCE, 7, 1, produce_body(topic, 0, batch([b"good"])))
        client.socket.sendall(good + GARBAGE["cut-body"])
        client.is_closed_by_peer()
    with broker.connect() as reader:
        response = reader.fetch(topic, 0, max_wait_ms=10_000)
        assert len(split_batches(response.records)) == 1


def test_an_unknown_api_versions_version_gets_version_zero(broker: Broker) -> None:
    with broker.connect() as client:
        no_tagged_fields = b"\0"  # of the header, which is flexible from version 3 on
        response = client.request(API_VERSIONS, 99, no_tagged_fields)
        error, count = response.take("hi")
        rows = [response.take("hhh") for _ in range(count)]
        assert (error, [row[0] for row in rows]) == (35, [API_VERSIONS])
        assert PRODUCE in client.api_versions()


def test_acks_zero_gets_no_response(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        client.send(PRODUCE, 7, produce_body(topic, 0, batch([b"quiet"]), acks=0))
        versions = client.send(API_VERSIONS, 0)
        assert client.receive()[0] == versions
        assert client.end_offset(topic) == 1


def test_a_request_behind_acks_zero_sees_its_records(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        requested = string(topic) + array([struct.pack(">iq", 0, -1)])
        client.socket.sendall(
            frame(PRODUCE, 7, 1, produce_body(topic, 0, batch([b"quiet"]), acks=0))
            + frame(LIST_OFFSETS, 1, 2, struct.pack(">i", -1) + array([requested]))
        )
        number, response = client.receive()
        assert number == 2
        response.take("i"), response.string()
        assert response.take("iihqq")[2:5:2] == (0, 1)


def test_acks_zero_that_fails_closes_the_connection(broker: Broker, topic: str) -> None:
    with broker.connect() as client:
        client.send(PRODUCE, 7, produce_body(topic, 9, batch([b"no such partition"]), acks=0))
        assert client.is_closed_by_peer()
    works(broker, topic)


def test_acks_zero_persists_the_accepted_partitions(broker: Broker, topic: str) -> None:
    good = produce_body(topic, 0, batch([b"good"]), acks=0)
    data = struct.pack(">ii", 9, 0)
    both = array([good[12:], string(topic) + array([data])])
    with broker.connect() as client:
        client.send(PRODUCE, 7, good[:8] + both)
        assert client.is_closed_by_peer()
    with broker.connect() as client:
        assert client.fetch(topic, 0, max_wait_ms=20_000).high_watermark == 1


def test_a_client_that_closes_during_a_fetch_does_not_affect_others(
    broker: Broker, topic: str
) -> None:
    for _ in range(20):
        with broker.connect() as impatient:
            impatient.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=60_000))
    works(broker, topic)


def test_a_reset_connection_does_not_affect_other_clients(broker: Broker, topic: str) -> None:
    linger_zero = struct.pack("ii", 1, 0)
    for _ in range(20):
        with broker.connect() as rude:
            rude.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_zero)
            rude.send(FETCH, 4, fetch_body(topic, 0, 0, max_wait_ms=60_000))
            rude.send(PRODUCE, 7, produce_body(topic, 0, batch([b"x"])))
    works(broker, topic)


def fill(broker: Broker, topic: str, mebibytes: int) -> None:
    with broker.connect() as client:
        for _ in range(mebibytes):
            assert client.produce(topic, batch([os.urandom(MIB - 500)])).error == 0


def never_read(broker: Broker, topic: str, requests: int) -> RawClient:
    """Asks for a lot and reads nothing: sends until the broker stops taking requests."""
    client = broker.connect()
    client.socket.setblocking(False)
    with selectors.DefaultSelector() as writable:
        writable.register(client.socket, selectors.EVENT_WRITE)
        unsent = b"".join(
            frame(FETCH, 4, number, fetch_body(topic, 0, 0)) for number in range(requests)
        )
        while unsent and writable.select(0.2):
            unsent = unsent[client.socket.send(unsent) :]
    client.socket.settimeout(30)
    return client


def test_clients_that_stop_reading_do_not_affect_others(broker: Broker, topic: str) -> None:
    fill(broker, topic, 8)
    with ExitStack() as opened:
        for _ in range(5):
            opened.enter_context(never_read(broker, topic, 200))
        for _ in range(20):
            works(broker, topic)


def test_a_client_that_reads_late_gets_every_response(broker: Broker, topic: str) -> None:
    fill(broker, topic, 4)
    with never_read(broker, topic, 30) as client:
        for number in range(30):
            correlation_id, response = client.receive()
            assert correlation_id == number
            assert len(split_batches(read_fetched(response).records)) == 4


# The limits below are settings, so each test has a broker of its own.


def test_memory_is_bounded_while_clients_do_not_read(own_broker: StartBroker) -> None:
    broker: BrokerProcess = own_broker("--set", "connection.unsent.max.bytes=1048576")
    topic = new_topic(broker)
    fill(broker, topic, 8)
    before = broker.resident_anonymous_kib()
    with ExitStack() as opened:
        for _ in range(10):
            opened.enter_context(never_read(broker, topic, 200))
        works(broker, topic)
        # Each requested 200 x 8 MiB; one response may exceed the limit.
        assert broker.resident_anonymous_kib() - before < 10 * 2 * 8 * 1024
    works(broker, topic)


def test_a_frame_over_the_limit_closes_the_connection(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "socket.request.max.bytes=50000")
    topic = new_topic(broker)
    with broker.connect() as client:
        assert client.produce(topic, batch([bytes(49_000)])).error == 0
        client.socket.sendall(struct.pack(">i", 50_001))
        assert client.is_closed_by_peer()
    works(broker, topic)


def refused(broker: Broker) -> bool:
    try:
        with broker.connect() as client:
            client.api_versions()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("setting", ["max.connections.per.ip", "max.connections"])
def test_connections_are_limited(start_broker: StartBroker, setting: str) -> None:
    broker = start_broker("--set", f"{setting}=5")
    with connections(broker, 5) as clients:
        for client in clients:
            client.api_versions()
        assert refused(broker)
        clients[0].api_versions()
    assert accepts_again(broker)


def test_connections_leave_open_files_to_the_broker(start_broker: StartBroker) -> None:
    broker = start_broker()
    resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (64, 64))
    with ExitStack() as opened, broker.connect() as first:
        while not refused(broker):
            opened.enter_context(broker.connect())
        assert first.api_versions()
        assert len(os.listdir(f"/proc/{broker.pid}/fd")) < 64
    assert accepts_again(broker)
    assert '"reason":"open_files"' in broker.log_line("connection_refused")


def accepts_again(broker: Broker) -> bool:
    """Soon: the broker hears of closed connections when it hears of them."""
    return any(not refused(broker) for _ in range(1_000))


def test_an_idle_connection_is_closed(start_broker: StartBroker) -> None:
    broker = start_broker("--set", "connections.max.idle.ms=500")
    with broker.connect() as idle:
        idle.api_versions()
        assert idle.is_closed_by_peer()
