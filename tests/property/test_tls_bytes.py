"""Whatever bytes a client sends to a TLS listener: nothing raises, nothing hangs."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.requests import metadata
from tests.fakes.tls import Identity, TlsClient, TlsKafka

HELLO = b"\x16\x03\x01"
CUTS = st.lists(st.integers(0, 1 << 16), max_size=4)


@cache
def identity() -> Identity:
    with TemporaryDirectory() as folder:
        return Identity(Path(folder))


def deliver(kafka: TlsKafka, client: TlsClient, data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for begin, end in pairwise(places):
        client.below.send(data[begin:end])
        kafka.run()
    kafka.scheduler.advance(11_000)
    kafka.run()


def assert_over(kafka: TlsKafka, client: TlsClient) -> None:
    assert client.below.lost
    assert kafka.shared.sessions == {}
    assert (kafka.shared.handshakes.count, kafka.shared.handshakes.waiting) == (0, 0)


@given(st.sampled_from([b"", HELLO, HELLO + b"\x00\x05"]), st.binary(max_size=400), CUTS)
def test_any_bytes_in_place_of_a_handshake(begin: bytes, rest: bytes, cuts: list[int]) -> None:
    kafka = TlsKafka(identity())
    client = kafka.connect()
    deliver(kafka, client, begin + rest, cuts)
    assert_over(kafka, client)


@given(st.data())
def test_a_changed_handshake(data: st.DataObject) -> None:
    kafka = TlsKafka(identity())
    client = kafka.connect()
    client.below.pause_reading()
    client.transport.shake_hands()
    hello = bytearray(client.below.withheld())
    client.below.resume_reading()
    for _ in range(data.draw(st.integers(1, 4))):
        hello[data.draw(st.integers(0, len(hello) - 1))] = data.draw(st.integers(0, 255))
    deliver(kafka, client, bytes(hello), data.draw(CUTS))
    assert_over(kafka, client)


@given(st.data())
def test_changed_records_after_the_handshake(data: st.DataObject) -> None:
    kafka = TlsKafka(identity())
    client = kafka.tls_client()
    assert client.request(metadata(), 12)
    record = bytearray(client.transport.encrypted(data.draw(st.binary(min_size=1, max_size=200))))
    place = data.draw(st.integers(0, len(record) - 1))
    record[place] ^= data.draw(st.integers(1, 255))
    client.below.send(bytes(record) + data.draw(st.binary(max_size=100)))
    kafka.run()
    # A longer length waits for the rest, as a longer request does.
    assert client.below.lost or client.session.connection.in_flight == 0
