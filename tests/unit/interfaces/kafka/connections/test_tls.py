"""The real TlsConnection and Session; the client is OpenSSL over a transport without a socket."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from domain.security.principal import ANONYMOUS, Principal
from domain.security.principal_mapping import NoMatchingRule
from interfaces.connections.tls import PASS_BYTES, READ_BYTES, UNSENT_BYTES
from tests.fakes import certificates
from tests.fakes.client import frame
from tests.fakes.requests import fetch, kinds, metadata, produce
from tests.fakes.tls import Identity, TlsClient, TlsKafka, authority, client_context

SECOND_MS = 1000


@pytest.fixture
def kafka(tmp_path: Path) -> TlsKafka:
    kafka = TlsKafka(Identity(tmp_path))
    kafka.topic("t", 2)
    return kafka


def with_certificate(folder: Path, signer: certificates.Certified, **how: float) -> ssl.SSLContext:
    context = client_context()
    alice = certificates.client(signer, "alice", **how)  # type: ignore[arg-type]
    context.load_cert_chain(certificates.write(folder, alice=alice.pem)["alice"])
    return context


def large_response(kafka: TlsKafka, client: TlsClient) -> int:
    """The client fetches them; their size."""
    part = "x" * 900_000
    kafka.client().request(produce(part), 9)
    client.send(fetch(), 12)
    kafka.run()
    return len(part)


# ---- requests and responses


def test_requests_and_responses_are_encrypted(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    assert kinds([client.request(metadata("t"), 12)]) == ["Metadata"]
    assert client.session.principal == ANONYMOUS
    assert kafka.shared.handshakes.count == 0
    assert kafka.scheduler.timers == []


def test_the_first_request_may_come_with_the_end_of_the_handshake(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.transport.shake_hands()
    kafka.run()
    client.below.pause_reading()
    client.transport.shake_hands()
    client.send(metadata("t"), 12)
    client.below.resume_reading()
    kafka.run()
    assert kinds(client.responses()) == ["Metadata"]


@pytest.mark.parametrize("at_most", [1, 7, 1 << 20])
def test_bytes_may_arrive_in_any_parts(kafka: TlsKafka, at_most: int) -> None:
    client = kafka.tls_client()
    sent = b"".join(frame(produce("v" * 3000), 9, number) for number in range(10))
    client.below.receive(client.transport.encrypted(sent), at_most)
    kafka.run()
    assert len(client.frames()) == 10


def test_many_small_requests_of_one_read_are_parsed_together(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    before = client.below.writes
    records = [client.transport.encrypted(frame(produce(), 9, number)) for number in range(20)]
    client.below.receive(b"".join(records))
    kafka.run()
    assert len(client.frames()) == 20
    assert client.below.writes == before + 1


def test_a_large_request_arrives_whole(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    [answer] = [client.request(produce("v" * 600_000), 9)]
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert kafka.partition().end.next_offset == 1


def test_a_large_response_is_encrypted_in_slices_with_others_between(kafka: TlsKafka) -> None:
    client, other = kafka.tls_client(), kafka.tls_client()
    part = "x" * 900_000
    kafka.client().request(produce(part), 9)
    client.send(fetch(), 12)
    sizes = []
    for number in range(20):
        before = sum(map(len, client.below.taken))
        if not number:
            other.send(metadata("t"), 12)
        kafka.scheduler.run_pass()
        sizes.append(sum(map(len, client.below.taken)) - before)
        if number == 2:
            assert kinds(other.responses()) == ["Metadata"]
    assert max(sizes) <= PASS_BYTES + READ_BYTES + 10_000
    assert len([size for size in sizes if size]) >= len(part) // PASS_BYTES
    assert kinds(client.responses()) == ["Fetch"]


def test_a_slow_reader_has_little_encrypted_and_is_muted(tmp_path: Path) -> None:
    kafka = TlsKafka(Identity(tmp_path), **{"connection.unsent.max.bytes": "500000"})
    kafka.topic("t", 2)
    client = kafka.tls_client()
    client.below.stop_reading()
    total_bytes = large_response(kafka, client)
    assert UNSENT_BYTES < client.below.get_write_buffer_size() < UNSENT_BYTES + 2 * READ_BYTES
    assert client.session.unsent_bytes >= total_bytes
    assert not client.below.reading
    client.below.read_on()
    kafka.run()
    assert kinds(client.responses()) == ["Fetch"]
    assert client.session.unsent_bytes == 0
    assert client.below.reading
    assert kinds([client.request(metadata("t"), 12)]) == ["Metadata"]


# ---- the end


def test_a_close_sends_what_is_left_and_says_so(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    client.below.stop_reading()
    large_response(kafka, client)
    client.session.drain()
    assert not client.below.lost
    client.below.read_on()
    kafka.run()
    assert kinds(client.responses()) == ["Fetch"]
    assert client.transport.ended
    assert client.below.lost
    assert client.session not in kafka.shared.sessions


def test_an_abort_drops_what_is_left(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    client.below.stop_reading()
    large_response(kafka, client)
    client.session.abort("slow_reader")
    assert client.session.unread_bytes == 0
    kafka.run()
    assert client.below.aborted
    assert client.session not in kafka.shared.sessions


def test_the_client_may_end_tls(kafka: TlsKafka) -> None:
    client = kafka.tls_client()
    client.transport.end()
    kafka.run()
    assert client.below.lost
    assert kafka.shared.sessions == {}
    assert kafka.events.of("connection_closed") == []


@pytest.mark.parametrize("garbage", [b"x" * 100, b"\x17\x03\x03\x00\x20" + b"y" * 32, b"\0" * 9])
def test_bytes_that_are_no_tls_close_the_connection(kafka: TlsKafka, garbage: bytes) -> None:
    client = kafka.tls_client()
    client.below.send(garbage)
    kafka.run()
    assert client.why_closed() == "malformed_tls"
    assert client.below.lost


# ---- the handshake


def test_the_principal_is_the_subject_of_the_client_certificate(tmp_path: Path) -> None:
    kafka = TlsKafka(Identity(tmp_path, ssl.CERT_REQUIRED))
    client = kafka.tls_client(with_certificate(tmp_path, authority()))
    assert kinds([client.request(metadata(), 12)]) == ["Metadata"]
    assert client.session.principal == Principal("User", "CN=alice")


def test_without_a_matching_rule_the_client_is_refused(tmp_path: Path) -> None:
    class NoRule(Identity):
        def principal_of(self, certificate: bytes) -> Principal:
            raise NoMatchingRule("no rule fits")

    kafka = TlsKafka(NoRule(tmp_path, ssl.CERT_REQUIRED))
    client = kafka.tls_client(with_certificate(tmp_path, authority()))
    assert client.below.lost
    [line] = kafka.events.of("connection_closed")
    assert line["detail"] == "no rule fits"


@pytest.mark.parametrize(
    "how, detail",
    [
        ("none", "the client sent no certificate, and ssl.client.auth is required"),
        ("foreign", "the certificate of the client was refused: unable to get local issuer"),
        ("expired", "the certificate of the client was refused: certificate has expired"),
    ],
)
def test_a_client_without_a_good_certificate_is_refused(
    tmp_path: Path, how: str, detail: str
) -> None:
    kafka = TlsKafka(Identity(tmp_path, ssl.CERT_REQUIRED))
    context = None
    if how == "foreign":
        context = with_certificate(tmp_path, certificates.authority("stranger"))
    elif how == "expired":
        context = with_certificate(tmp_path, authority(), days=-1)
    client = kafka.tls_client(context)
    assert client.below.lost
    [line] = kafka.events.of("connection_closed")
    assert line["reason"] == "tls_handshake_failed"
    assert str(line["detail"]).startswith(detail)
    assert "ssl" in str(line["hint"])
    assert kafka.shared.handshakes.count == 0


def test_a_client_that_does_not_trust_the_broker_is_named(kafka: TlsKafka) -> None:
    client = kafka.connect(ssl.create_default_context())
    client.transport.shake_hands()
    kafka.run()
    with pytest.raises(ssl.SSLCertVerificationError):
        client.transport.shake_hands()
    kafka.run()
    [line] = kafka.events.of("connection_closed")
    assert line["detail"] == "the client does not trust the certificate of the broker"


def test_a_plain_client_is_named(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.below.send(frame(metadata(), 12))
    kafka.run()
    [line] = kafka.events.of("connection_closed")
    assert (line["reason"], client.below.lost) == ("not_tls", True)
    assert "security.protocol=SSL" in str(line["hint"])
    assert client.below.taken == []


def test_http_gets_a_response(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.below.send(b"GET / HTTP/1.1\r\n\r\n")
    kafka.run()
    assert client.why_closed() == "http_request"
    assert client.below.taken[0].startswith(b"HTTP/1.1 400 ")


def test_a_stalled_handshake_ends_after_its_time(kafka: TlsKafka) -> None:
    silent, stalled = kafka.connect(), kafka.connect()
    stalled.transport.shake_hands()
    kafka.run()
    kafka.scheduler.advance(9 * SECOND_MS)
    assert not silent.below.closing
    kafka.scheduler.advance(2 * SECOND_MS)
    assert (silent.below.aborted, stalled.below.aborted) == (True, True)
    kafka.run()
    assert kafka.shared.sessions == {}
    assert kafka.shared.handshakes.count == 0
    assert silent.why_closed() == "tls_handshake_timeout"


def test_a_client_that_leaves_during_the_handshake_is_named(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.transport.shake_hands()
    kafka.run()
    client.below.protocol.eof_received()
    assert client.why_closed() == "tls_handshake_failed"
    silent = kafka.connect()
    silent.below.protocol.eof_received()
    assert silent.why_closed() == ""


def test_handshakes_over_the_limit_wait_unread(tmp_path: Path) -> None:
    kafka = TlsKafka(Identity(tmp_path), **{"ssl.handshakes.max": "2"})
    first, _second, third = kafka.connect(), kafka.connect(), kafka.connect()
    kafka.run()
    third.transport.shake_hands()
    kafka.run()
    assert (third.below.reading, third.below.taken) == (False, [])
    first.below.drop()
    kafka.run()
    assert third.below.reading
    for _ in range(2):
        third.transport.shake_hands()
        kafka.run()
    assert kinds([third.request(metadata(), 12)]) == ["Metadata"]


def test_one_step_of_one_handshake_runs_in_a_pass(kafka: TlsKafka) -> None:
    clients = [kafka.connect() for _ in range(5)]
    for client in clients:
        client.transport.shake_hands()
    assert [bool(client.below.taken) for client in clients] == [True] + 4 * [False]
    kafka.scheduler.run_pass()
    assert [bool(client.below.taken) for client in clients] == [True, True] + 3 * [False]
    for _ in range(2):
        kafka.run()
        for client in clients:
            client.transport.shake_hands()
    kafka.run()
    assert all(kinds([client.request(metadata(), 12)]) for client in clients)


def test_a_throttled_connection_shakes_hands_and_is_not_read(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.session.throttle(500)
    for _ in range(2):
        client.transport.shake_hands()
        kafka.run()
    client.send(metadata(), 12)
    kafka.run()
    assert client.responses() == []
    kafka.scheduler.advance(500)
    kafka.run()
    assert kinds(client.responses()) == ["Metadata"]


def test_a_refused_connection_begins_no_handshake(tmp_path: Path) -> None:
    kafka = TlsKafka(Identity(tmp_path), **{"max.connections": "0"})
    client = kafka.connect()
    kafka.run()
    assert client.below.aborted
    assert (kafka.shared.handshakes.count, kafka.shared.handshakes.waiting) == (0, 0)


def test_a_drain_ends_handshakes(kafka: TlsKafka) -> None:
    client = kafka.connect()
    client.transport.shake_hands()
    kafka.run()
    client.session.drain()
    kafka.run()
    assert client.below.lost
    assert kafka.shared.handshakes.count == 0
