from __future__ import annotations

import asyncio

import pytest

from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.shared import Advertised
from interfaces.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from interfaces.sockets import listen
from tests.fakes.client import LISTENER, FakeClient, FakeKafka, frame

MINUTE_MS = 60_000


def waiting_fetch(kafka: FakeKafka, max_wait_ms: int) -> FetchRequest:
    kafka.topic("t")
    wanted = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="t", partitions=[wanted])
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[topic])


@pytest.fixture
def kafka() -> FakeKafka:
    return FakeKafka()


# ---- what clients are told to connect to


def told(client: FakeClient) -> tuple[str, int]:
    (broker,) = client.ask(DescribeClusterRequest(), 0).brokers
    return broker.host, broker.port


def test_without_an_advertised_address_a_client_is_told_where_it_is() -> None:
    assert told(FakeKafka().client()) == ("192.0.2.1", 9092)


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("kafka.example", 19092, ("kafka.example", 19092)),
        ("kafka.example", None, ("kafka.example", 9092)),
        (None, 19092, ("192.0.2.1", 19092)),
    ],
)
def test_an_advertised_address_is_told(
    host: str | None, port: int | None, expected: tuple[str, int]
) -> None:
    kafka = FakeKafka(advertised=Advertised(LISTENER, host, port))
    assert told(kafka.client()) == expected


# ---- the end


async def finish(kafka: FakeKafka, draining: asyncio.Future[None]) -> None:
    while not draining.done():
        kafka.run()
        await asyncio.sleep(0)
    await draining


def test_draining_answers_what_waits_and_ends_every_connection(kafka: FakeKafka) -> None:
    waiting, silent = kafka.client(), kafka.client()
    waiting.send(waiting_fetch(kafka, MINUTE_MS), 12)

    async def drain() -> None:
        await finish(kafka, asyncio.ensure_future(kafka.shared.drain(5)))

    asyncio.run(drain())
    assert len(waiting.answers()) == 1
    assert (waiting.closed, silent.closed) == (True, True)
    assert kafka.shared.sessions == {}


def test_draining_waits_for_a_commit_and_answers_what_it_holds(kafka: FakeKafka) -> None:
    client = kafka.client()
    kafka.commit.hold()
    topic = CreatableTopic(name="new", num_partitions=1, replication_factor=1)
    client.send(CreateTopicsRequest(topics=[topic]), 7)
    kafka.run()

    async def drain() -> None:
        draining = asyncio.ensure_future(kafka.shared.drain(5))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not client.closed
        kafka.commit.let_go()
        await finish(kafka, draining)

    asyncio.run(drain())
    assert len(client.answers()) == 1
    assert client.closed


def test_draining_gives_up_on_a_client_that_does_not_read(kafka: FakeKafka) -> None:
    client = kafka.client()
    client.transport.stop_reading()
    client.send(MetadataRequest(topics=[]), 12)

    async def drain() -> None:
        await finish(kafka, asyncio.ensure_future(kafka.shared.drain(0.01)))

    asyncio.run(drain())
    assert client.transport.aborted


def test_who_comes_while_the_broker_drains_is_sent_away(kafka: FakeKafka) -> None:
    waiting = kafka.client()
    kafka.commit.hold()
    topic = CreatableTopic(name="new", num_partitions=1, replication_factor=1)
    waiting.send(CreateTopicsRequest(topics=[topic]), 7)
    kafka.run()

    async def drain() -> None:
        draining = asyncio.ensure_future(kafka.shared.drain(5))
        await asyncio.sleep(0)
        assert kafka.client().closed
        kafka.commit.let_go()
        await finish(kafka, draining)
        assert draining.result()

    asyncio.run(drain())
    assert len(waiting.answers()) == 1


# ---- real sockets


def test_a_listener_serves_on_a_free_port_and_stops_accepting(kafka: FakeKafka) -> None:
    async def serve() -> None:
        listener = Listener(kafka.shared, Advertised(LISTENER))
        await listener.start(listen("127.0.0.1", 0))
        host, port = listener.bound
        assert (host, port > 0) == ("127.0.0.1", True)
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(frame(MetadataRequest(topics=[]), 12, correlation_id=5))
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
