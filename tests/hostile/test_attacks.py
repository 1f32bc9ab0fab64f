"""Each attack with a healthy client beside it; its memory stays below the formula."""

from __future__ import annotations

import os
import select
import struct
from collections.abc import Callable, Iterable

import pytest

from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw_client import (
    API_VERSIONS,
    FETCH,
    METADATA,
    PRODUCE,
    RawClient,
    array,
    batch,
    fetch_body,
    frame,
    produce_body,
    read_produced,
    string,
)
from tests.fakes.client import frame as encoded
from tests.hostile.attack import (
    FULL,
    KIB,
    MIB,
    PATIENCE_S,
    Attacked,
    connections,
    cpu_seconds,
    may_open,
    open_files,
    reset,
    send_all_at_once,
)
from tests.hostile.promise import promised_bytes

MESSAGE_TOO_LARGE = 10


def test_clients_that_send_byte_by_byte(attacked: Attacked) -> None:
    sent = [
        frame(METADATA, 1, 1, array([string(FULL)])),
        frame(PRODUCE, 7, 1, produce_body(FULL, 0, batch([b"drop by drop"]))),
    ]
    with (
        connections(attacked.broker, 60) as clients,
        attacked.endured(connections=61, active=60),
    ):
        for at in range(max(map(len, sent))):
            for number, client in enumerate(clients):
                client.socket.sendall(sent[number % 2][at : at + 1])
        for client in clients:
            assert client.receive()[0] == 1


def test_clients_that_send_half_a_request_or_nothing(attacked: Attacked) -> None:
    whole = frame(PRODUCE, 7, 1, produce_body(FULL, 0, batch([bytes(120 * KIB)])))
    large = frame(PRODUCE, 7, 1, produce_body(FULL, 0, batch([bytes(MIB)])))
    with (
        connections(attacked.broker, 300) as clients,
        attacked.endured(connections=301, active=200),
    ):
        for client in clients[:100]:
            client.socket.sendall(whole[:-1])
        send_all_at_once(clients[100:200], [large[:-1]] * 100, idle_s=0.5)
        # There is memory for eight large requests, and each lacks a byte: small requests, as those
        # of the healthy client, still run.


def test_frames_of_the_largest_size_from_two_hundred_connections_at_once(
    attacked: Attacked,
) -> None:
    size = attacked.config.socket_request_max_bytes
    refused = produce_body(FULL, 0, batch([bytes(size - 300)]))
    two = [struct.pack(">ii", 0, len(one)) + one for one in (batch([os.urandom(900 * KIB)]),) * 2]
    taken = string(None) + struct.pack(">hi", -1, 30_000) + array([string(FULL) + array(two)])
    frames = [frame(PRODUCE, 7, 1, refused if number % 5 else taken) for number in range(200)]
    assert size - 300 < max(map(len, frames)) <= size + 4
    assert sum(map(len, frames)) > promised_bytes(attacked.config, 201, 200), "no attack at all"
    with (
        connections(attacked.broker, 200) as clients,
        attacked.endured(connections=201, active=200),
    ):
        assert send_all_at_once(clients, frames, idle_s=30) == 0
        for number, client in enumerate(clients):
            correlation_id, response = client.receive()
            error = read_produced(response).error
            assert (correlation_id, error) == (1, MESSAGE_TOO_LARGE if number % 5 else 0)
    with attacked.broker.connect() as client:
        assert client.end_offset(FULL) == 80


def test_clients_that_fetch_much_and_read_nothing(attacked: Attacked) -> None:
    attacked.fill(16)
    count = 100
    requested = b"".join(frame(FETCH, 4, n, fetch_body(FULL, 0, 0)) for n in range(50))
    response = count * attacked.config.fetch_max_bytes
    assert response > promised_bytes(attacked.config, count + 1, count), "no attack at all"
    with (
        connections(attacked.broker, count) as clients,
        attacked.endured(connections=count + 1, active=count),
    ):
        send_all_at_once(clients, [requested] * count, idle_s=0.5)
        # A new client that reads gets responses of one batch.
        with attacked.broker.connect() as late:
            assert any(len(late.fetch(FULL, 0).records) > MIB // 2 for _ in range(1000))


def test_waiting_fetches_that_complete_together_and_are_not_read(attacked: Attacked) -> None:
    """Each was admitted while there was room."""
    attacked.fill(16)
    count = 100
    requested = frame(FETCH, 4, 1, fetch_body(FULL, 0, 0, max_wait_ms=1500, min_bytes=2**31 - 1))
    with (
        connections(attacked.broker, count) as clients,
        attacked.endured(connections=count + 1, active=count),
    ):
        send_all_at_once(clients, [requested] * count, idle_s=2)
        assert all(is_readable(client) for client in clients)


def test_five_thousand_idle_connections(attacked: Attacked) -> None:
    if not may_open(12_000):
        pytest.skip("the limit of open files cannot be raised to 12,000")
    with (
        connections(attacked.broker, 5000) as clients,
        attacked.endured(connections=5001, active=0),
    ):
        for client in clients[::50]:
            client.api_versions()


def test_clients_that_come_and_go(attacked: Attacked) -> None:
    before = open_files(attacked.broker)
    half = frame(PRODUCE, 7, 1, produce_body(FULL, 0, batch([bytes(300 * KIB)])))[: 200 * KIB]
    with attacked.endured(connections=60, active=60):
        for _ in range(30):
            with connections(attacked.broker, 50) as clients:
                for number, client in enumerate(clients):
                    match number % 5:
                        case 0:
                            client.send(API_VERSIONS, 0)
                        case 1:
                            client.socket.sendall(half)
                        case 2:
                            client.send(FETCH, 4, fetch_body(FULL, 0, 0, max_wait_ms=60_000))
                        case 3:
                            client.socket.sendall(b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n")
                    if number % 2:
                        reset(client)
    assert any(settled(attacked.broker, before) for _ in range(1000))


#: Each closes its connection: garbage, clients of other protocols, requests that are malformed.
MALFORMED = [
    struct.pack(">i", -1),
    b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    frame(99, 0, 1, b""),
    frame(METADATA, 1, 1, struct.pack(">i", 2**31 - 1)),
]


@pytest.mark.parametrize(
    ("count", "at_once", "growth_mib"),
    [(5_000, 500, 5), pytest.param(100_000, 5_000, 40, marks=pytest.mark.long)],
)
def test_connections_that_each_send_a_malformed_request(
    start: Callable[..., Attacked], count: int, at_once: int, growth_mib: int
) -> None:
    """The collector never sees them as garbage: reference counts free them."""
    if not may_open(3 * at_once):
        pytest.skip(f"the limit of open files cannot be raised to {3 * at_once}")
    attacked = start(requests_recent_max="1")
    send_in_waves(attacked.broker, len(MALFORMED), len(MALFORMED))
    before = attacked.broker.resident_anonymous_kib() * KIB
    with attacked.endured(connections=at_once + 1, active=at_once) as endured:
        send_in_waves(attacked.broker, count, at_once)
    assert endured.most_bytes - before <= growth_mib * MIB


def send_in_waves(broker: BrokerProcess, count: int, at_once: int) -> None:
    for _ in range(count // at_once):
        with connections(broker, at_once) as clients:
            for number, client in enumerate(clients):
                client.socket.sendall(MALFORMED[number % len(MALFORMED)])
            for client in clients:
                assert client.is_closed_by_peer()
                reset(client)


def settled(broker: BrokerProcess, files: int) -> bool:
    """The broker notices closed connections a little later."""
    with broker.connect() as client:
        client.api_versions()
        return open_files(broker) <= files + 1


def test_clients_that_vanish_in_the_middle_of_a_response(attacked: Attacked) -> None:
    attacked.fill(8)
    with attacked.endured(connections=2, active=2):
        for _ in range(40):
            client = attacked.broker.connect()
            client.send(FETCH, 4, fetch_body(FULL, 0, 0))
            client.receive_exactly(10_000)
            reset(client)


def test_requests_of_as_many_elements_as_may_be(attacked: Attacked) -> None:
    count = attacked.config.request_elements_max
    names = array(string(f"t{number}") for number in range(count))
    too_many = array(string("t") for number in range(count + 1))
    nothing = struct.pack(">?", False)  # allow_auto_topic_creation
    with (
        connections(attacked.broker, 20) as clients,
        attacked.endured(connections=21, active=20),
    ):
        for client in clients:
            client.send(METADATA, 4, names + nothing)
        for client in clients:
            assert client.receive()[0] == 1
        clients[0].send(METADATA, 4, too_many + nothing)
        assert clients[0].is_closed_by_peer()
    assert "request.elements.max" in attacked.broker.log()


def test_a_request_for_as_many_topics_as_may_be(attacked: Attacked) -> None:
    """The response has all configs of each: twenty kilobytes for a few bytes of the request."""
    count = attacked.config.request_elements_max
    topics = [
        CreatableTopic(name=f"t{number}", num_partitions=1, replication_factor=1)
        for number in range(count)
    ]
    request = encoded(CreateTopicsRequest(topics=topics, validate_only=True), 7, 1)
    with (
        connections(attacked.broker, 2) as clients,
        attacked.endured(connections=3, active=2),
    ):
        for client in clients:
            client.socket.sendall(request)
        for client in clients:
            assert client.receive()[0] == 1


def test_waiting_fetches_of_many_partitions(attacked: Attacked) -> None:
    """A waiting fetch takes kilobytes for a hundred bytes of its request."""
    count = attacked.config.request_elements_max - 10
    requested = [struct.pack(">iqi", number, 0, 1000) for number in range(count)]
    limits = struct.pack(">iiiib", -1, 60_000, 1, MIB, 0)
    many = frame(FETCH, 4, 1, limits + array([string(FULL) + array(requested)]))
    with (
        connections(attacked.broker, 20) as clients,
        attacked.endured(connections=21, active=20),
    ):
        send_all_at_once(clients, [many] * 20, idle_s=3)


def test_fetches_that_repeat_one_partition(attacked: Attacked) -> None:
    """Each element is a search, for a batch behind many others in one entry of the store. Only the
    first gets data, so no limit of bytes ends it.
    """
    small = [frame(PRODUCE, 7, n, produce_body(FULL, 0, batch([b"x"]))) for n in range(800)]
    count = attacked.config.request_elements_max - 10
    deep = named_often(offset % len(small) for offset in range(count))
    with (
        connections(attacked.broker, 5) as clients,
        attacked.endured(connections=6, active=5),
    ):
        clients[0].socket.sendall(b"".join(small))  # so many at once share a commit, and an entry
        for _ in small:
            assert read_produced(clients[0].receive()[1]).error == 0
        for client in clients:
            client.socket.sendall(deep * 2)
        for client in clients * 2:
            assert client.receive()[0] == 1
    with attacked.broker.connect(PATIENCE_S) as client:
        shallow_s = cost_of(named_often([0] * count), client, attacked.broker)
        deep_s = cost_of(deep, client, attacked.broker)
    assert deep_s < 6 * shallow_s, "the store looks through too much for one batch"


def named_often(offsets: Iterable[int]) -> bytes:
    requested = [struct.pack(">iqi", 0, offset, 1) for offset in offsets]
    limits = struct.pack(">iiiib", -1, 0, 1, MIB, 0)
    return frame(FETCH, 4, 1, limits + array([string(FULL) + array(requested)]))


def cost_of(request: bytes, client: RawClient, broker: BrokerProcess) -> float:
    """CPU seconds of the broker for ten of them."""
    before = cpu_seconds(broker)
    for _ in range(10):
        client.socket.sendall(request)
        assert client.receive()[0] == 1
    return cpu_seconds(broker) - before


def test_a_log_pipe_that_is_not_read(start: Callable[..., Attacked]) -> None:
    """A pipe takes 64 KiB; with a line a request, that is a few hundred requests."""
    attacked = start(log_requests="all")
    log = attacked.broker.log_file
    reading, writing = os.pipe()
    attacked.broker.terminate()
    try:
        attacked.broker.log_file = log.with_name("pipe")
        attacked.broker.log_file.symlink_to(f"/proc/self/fd/{writing}")
        attacked.broker.start()
        with attacked.endured(connections=2, active=1), attacked.broker.connect() as client:
            for _ in range(3000):
                client.api_versions()
        attacked.broker.kill()
    finally:
        attacked.broker.log_file.unlink()
        attacked.broker.log_file = log
        os.close(reading)
        os.close(writing)


@pytest.mark.long
def test_a_large_request_that_trickles_makes_way(attacked: Attacked) -> None:
    size = attacked.config.queued_max_request_bytes // 4 - 300
    whole = frame(PRODUCE, 7, 1, produce_body(FULL, 0, batch([bytes(size)])))
    with (
        connections(attacked.broker, 4) as slow,
        attacked.endured(connections=6, active=6),
        attacked.broker.connect(120) as honest,
    ):
        for client in slow:
            client.socket.sendall(whole[: 100 * KIB])
        honest.socket.sendall(whole)
        for at in range(100 * KIB, len(whole)):
            if is_readable(honest, within_s=1):
                break
            for client in slow:
                try:
                    client.socket.sendall(whole[at : at + 1])
                except OSError:
                    continue
    assert "slow_request" in attacked.broker.log()


def is_readable(client: RawClient, within_s: float = PATIENCE_S) -> bool:
    """A response has arrived or the connection is closed."""
    return bool(select.select([client.socket], [], [], within_s)[0])
