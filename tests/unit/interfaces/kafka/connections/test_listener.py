from __future__ import annotations

import asyncio

import pytest

from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from interfaces.sockets import listen
from tests.fakes.client import UNSECURED, FakeKafka, frame
from tests.fakes.requests import fetch, kinds, metadata
from tests.fakes.topic_requests import new


@pytest.mark.parametrize(
    ("advertised", "expected"),
    [
        ("", ("192.0.2.1", 9092)),
        ("kafka.example:19092", ("kafka.example", 19092)),
        ("kafka.example:0", ("kafka.example", 9092)),
        ("OTHER://kafka.example:19092", ("192.0.2.1", 9092)),
    ],
)
def test_clients_get_the_advertised_address_or_that_of_their_socket(
    advertised: str, expected: tuple[str, int]
) -> None:
    kafka = FakeKafka(advertised_listeners=advertised)
    (broker,) = kafka.client().request(DescribeClusterRequest(), 0).brokers
    assert (broker.host, broker.port) == expected


# ---- drain


def drain(kafka: FakeKafka, timeout_s: float = 5) -> None:
    """Commits that are held complete after the drain has started."""

    async def run() -> None:
        draining = asyncio.ensure_future(kafka.shared.drain(timeout_s))
        for _ in range(5):
            await asyncio.sleep(0)
        assert kafka.client().closed, "new connections are closed"
        if kafka.commit.under_way:
            kafka.commit.let_go()
        while not draining.done():
            kafka.run()
            await asyncio.sleep(0)
        await draining

    asyncio.run(run())


def test_draining_completes_requests_and_closes_connections(kafka: FakeKafka) -> None:
    waiting, committing, silent = kafka.client(), kafka.client(), kafka.client()
    kafka.topic("t")
    waiting.send(fetch(max_wait_ms=60_000), 12)
    kafka.commit.hold()
    committing.send(CreateTopicsRequest(topics=[new("new")]), 7)
    kafka.run()
    drain(kafka)
    assert kinds(waiting.responses() + committing.responses()) == ["Fetch", "CreateTopics"]
    assert (waiting.closed, committing.closed, silent.closed) == (True, True, True)
    assert kafka.shared.sessions == {}


def test_draining_aborts_a_client_that_does_not_read(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.stop_reading()
    client.send(metadata(), 12)
    drain(kafka, 0.01)
    assert client.transport.aborted


# ---- real sockets


def test_a_listener_serves_on_a_free_port_and_stops_accepting(kafka: FakeKafka) -> None:
    async def serve() -> None:
        listener = Listener(kafka.shared, UNSECURED)
        await listener.start(listen("127.0.0.1", 0))
        host, port = listener.bound
        assert (host, port > 0) == ("127.0.0.1", True)
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(frame(metadata(), 12, correlation_id=5))
        size = int.from_bytes(await reader.readexactly(4), "big")
        assert (await reader.readexactly(size))[:4] == b"\0\0\0\5"
        listener.stop_accepting()
        with pytest.raises(OSError):  # noqa: PT011
            await asyncio.open_connection(host, port)
        await kafka.shared.drain(1)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()

    asyncio.run(serve())
