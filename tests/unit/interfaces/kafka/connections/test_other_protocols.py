from __future__ import annotations

import struct

import pytest

from interfaces.connections.closing_log import MINUTE_MS
from interfaces.kafka.connections.rejections import rejection_of
from tests.fakes.client import FakeKafka, frame
from tests.fakes.requests import metadata

HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
GET = b"GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n"
CLOSED = "connection_closed"


@pytest.mark.parametrize("at_most", [1, 1 << 30])
def test_an_http_client_gets_the_admin_address(kafka: FakeKafka, at_most: int) -> None:
    """Also if its first bytes arrive one by one."""
    kafka.shared.admin_urls = lambda host: [f"http://{host}:8082"]
    client = kafka.client()
    client.transport.receive(GET, at_most)
    head, _, body = b"".join(client.transport.taken).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"Content-Length: %d" % len(body) in head
    assert b"http://192.0.2.1:8082\n" in body
    assert client.closed
    (line,) = kafka.events.of(CLOSED)
    assert line["peer"] == "192.0.2.7"
    assert "http://192.0.2.1:8082" in str(line["hint"])


def test_a_probe_of_a_command_gets_the_admin_address_and_is_not_logged(kafka: FakeKafka) -> None:
    kafka.shared.admin_urls = lambda host: [f"http://{host}:8082"]
    client = kafka.client()
    client.transport.receive(GET.replace(b"GET", b"HEAD"))
    head, _, body = b"".join(client.transport.taken).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 This port serves the Kafka protocol, not HTTP. ")
    assert b"HTTP is served at http://192.0.2.1:8082\r\n" in head
    assert (body, client.closed, kafka.events.of(CLOSED)) == (b"", True, [])


def test_without_admin_listeners_an_http_client_gets_the_name_of_the_setting(
    kafka: FakeKafka,
) -> None:
    kafka.shared.admin_urls = lambda _host: []
    client = kafka.client()
    client.transport.receive(GET)
    assert b"admin.listeners" in b"".join(client.transport.taken)


def test_a_tls_client_gets_a_fatal_alert(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(HELLO)
    assert client.transport.taken == [bytes.fromhex("15 03 01 00 02 02 28")]
    assert client.closed
    (line,) = kafka.events.of(CLOSED)
    assert "security.protocol=PLAINTEXT" in str(line["hint"])
    assert line["reason"] == "tls_handshake"


@pytest.mark.parametrize("sent", [GET, HELLO], ids=["HTTP", "TLS"])
def test_a_client_that_connects_repeatedly_is_logged_once_a_minute(
    kafka: FakeKafka, sent: bytes
) -> None:
    for _ in range(20):
        kafka.client().transport.receive(sent)
    kafka.run()
    assert len(kafka.events.of(CLOSED)) == 1
    kafka.scheduler.advance(MINUTE_MS)
    assert [line["connections"] for line in kafka.events.of(CLOSED)] == [1, 19]


def test_behind_a_kafka_request_no_other_protocol_is_recognised(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.receive(frame(metadata(), 12) + GET)
    kafka.run()
    assert len(client.frames()) == 1
    assert client.why_closed() == "invalid_request_size"


@pytest.mark.parametrize(
    "first",
    [
        *(b"GET ", b"HEAD", b"POST", b"PUT ", b"DELE", b"OPTI", b"PATC", b"PRI "),
        *(bytes((0x16, 3, minor, 2)) for minor in range(5)),
    ],
)
def test_the_first_bytes_of_http_and_tls_are_recognised(first: bytes) -> None:
    assert rejection_of(first, []) is not None
    assert struct.unpack(">i", first)[0] > 104_857_600, "no legal length by default"


@pytest.mark.parametrize(
    "first", [b"\xff\xff\xff\xff", b"get ", b"\x16\x03\x05\0", b"\x15\x03\1\0"]
)
def test_other_first_bytes_are_not_recognised(first: bytes) -> None:
    assert rejection_of(first, []) is None
