from __future__ import annotations

import struct

import pytest

from interfaces.kafka.connections.closing_log import MINUTE_MS
from interfaces.kafka.connections.other_protocols import rejection_of
from tests.fakes.client import FakeKafka, frame
from tests.fakes.requests import metadata

HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
GET = b"GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n"
CLOSED = "connection_closed"


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.shared.admin_urls = lambda host: [f"http://{host}:8082"]
    return kafka


def test_an_http_client_is_answered_with_the_admin_address(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(GET)
    head, _, body = b"".join(client.transport.taken).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"Content-Length: %d" % len(body) in head
    assert b"http://192.0.2.1:8082\n" in body
    assert client.closed
    (line,) = kafka.events.of(CLOSED)
    assert (line["peer"], line["hint"]) == ("192.0.2.7", "HTTP is served at http://192.0.2.1:8082")


def test_an_http_client_is_answered_where_the_admin_side_is_off(kafka: FakeKafka) -> None:
    kafka.shared.admin_urls = lambda _host: []
    client = kafka.client()
    client.transport.receive(GET)
    assert b"admin.listeners" in b"".join(client.transport.taken)


def test_a_tls_client_is_answered_with_a_fatal_alert(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(HELLO)
    assert client.transport.taken == [bytes.fromhex("15 03 01 00 02 02 28")]
    assert client.closed
    (line,) = kafka.events.of(CLOSED)
    assert "security.protocol=PLAINTEXT" in str(line["hint"])
    assert line["reason"] == "tls_handshake"


def test_first_bytes_that_come_one_by_one_are_recognised(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(GET, at_most=1)
    assert client.transport.taken[0].startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("sent", [GET, HELLO], ids=["HTTP", "TLS"])
def test_a_client_that_comes_again_and_again_is_logged_once_a_minute(
    kafka: FakeKafka, sent: bytes
) -> None:
    for _ in range(20):
        kafka.client().transport.receive(sent)
    kafka.run()
    assert len(kafka.events.of(CLOSED)) == 1
    kafka.scheduler.advance(MINUTE_MS)
    assert [line["connections"] for line in kafka.events.of(CLOSED)] == [1, 19]


def test_behind_a_kafka_request_nothing_is_another_protocol(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(frame(metadata("t"), 12) + GET)
    assert len(client.frames()) == 1
    assert client.why_closed() == "invalid_request_size"


@pytest.mark.parametrize(
    "first",
    [
        *(b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"PRI "),
        *(bytes((0x16, 3, minor, 2)) for minor in range(5)),
    ],
)
def test_what_clients_of_http_and_tls_begin_with_is_recognised(first: bytes) -> None:
    assert rejection_of(first, []) is not None
    assert struct.unpack(">i", first)[0] > 104_857_600, "a legal length by default"


@pytest.mark.parametrize(
    "first", [b"\xff\xff\xff\xff", b"get ", b"\x16\x03\x05\0", b"\x15\x03\1\0"]
)
def test_other_bytes_are_no_protocol_that_is_known(first: bytes) -> None:
    assert rejection_of(first, []) is None
