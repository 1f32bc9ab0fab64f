"""Requests and connections leave no reference cycles, also if they fail.

Collections are rare, and each cycle would keep a request of up to a hundred megabytes until then.
"""

from __future__ import annotations

import asyncio
import gc
import struct
import weakref
from collections.abc import Callable

import pytest
import uvloop

from domain.errors import StorageFailed
from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.session import Session
from interfaces.kafka.wire.schema import Request
from interfaces.sockets import listen
from tests.fakes.batches import GZIP, TIMESTAMP, record_batch
from tests.fakes.classic_requests import (
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from tests.fakes.client import UNSECURED, FakeClient, FakeKafka, frame, raw_frame
from tests.fakes.offset_requests import at, delete_groups, offset_commit, offset_delete
from tests.fakes.plain_requests import REQUESTS as plain
from tests.fakes.requests import fetch, metadata, produce
from tests.fakes.sasl import USER, SaslKafka, handshake, token
from tests.fakes.sasl import plain as plain_token
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import new

YEAR_MS = 365 * 86_400_000


def batch(records: bytes, name: str = "t") -> Request:
    data = [{"index": 0, "records": memoryview(records)}]
    return request_for("produce", acks=-1, topic_data=[{"name": name, "partition_data": data}])


def list_offsets(timestamp: int, index: int = 0) -> Request:
    partitions = [{"partition_index": index, "timestamp": timestamp}]
    return request_for("list_offsets", topics=[{"name": "t", "partitions": partitions}])


FAILING: dict[str, tuple[Request, int]] = {
    "produce": (produce(), 9),
    "too large": (produce("x" * 1_100_000), 9),
    "wrong checksum": (batch(bytes(record_batch(["x"])[:-1] + b"y")), 9),
    "no batch": (batch(b"x" * 70), 9),
    "wrong count": (batch(bytes(record_batch(["x"], count=7))), 9),
    "in the future": (batch(bytes(record_batch(["x"], timestamp=TIMESTAMP + YEAR_MS))), 9),
    "no key": (batch(bytes(record_batch(["x"])), "compacted"), 9),
    "broken codec": (batch(bytes(record_batch(["x"], codec=GZIP, payload=b"")), "compacted"), 9),
    "out of order": (batch(bytes(record_batch(["x"], producer_id=1, epoch=0, sequence=9))), 9),
    "unknown topic": (batch(bytes(record_batch(["x"])), "absent"), 9),
    "out of range": (fetch(max_wait_ms=0, offset=99), 12),
    "fetch": (fetch(max_wait_ms=0), 12),
    "illegal name": (metadata("a b"), 12),
    "no partitions": (request_for("create_topics", topics=[new("new", 0)]), 7),
    "unknown partition": (list_offsets(-1, 99), 7),
    "unknown timestamp": (list_offsets(-77), 7),
    "commit": (offset_commit("g", ("t", [at(0), at(1)])), 9),
    "unknown offsets": (offset_delete("simple", ("t", [1])), 0),
    "join": (join_request(group_id="classic", instance_id="i"), 5),
    "unknown member": (leave_request(("unknown", None), group_id="classic"), 4),
}
#: Requests of tests/fakes/plain_requests.py, most of which fail, too.
PLAIN = {
    "create_topics": 7,
    "create_partitions": 3,
    "delete_topics": 6,
    "delete_groups": 2,
    "offset_fetch": 7,
    "init_producer_id": 4,
    "describe_topic_partitions": 0,
    "consumer_group_heartbeat": 1,
}
REQUESTS = FAILING | {name: (plain[name](version), version) for name, version in PLAIN.items()}


def garbage_of(act: Callable[[], None]) -> int:
    for _ in range(3):  # until all caches are filled
        act()
    gc.collect()
    gc.freeze()  # so that only what is new is looked through
    gc.disable()
    try:
        act()
        return gc.collect()
    finally:
        gc.enable()


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(group_initial_rebalance_delay_ms="0")
    kafka.topic("t", 2)
    kafka.topic("compacted", cleanup_policy="compact")
    kafka.appended(record_batch(["x"], producer_id=1, epoch=0, sequence=0))
    return kafka


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_leaves_no_cycle(kafka: FakeKafka, name: str) -> None:
    client = kafka.client()
    sent = frame(*REQUESTS[name])

    def respond() -> None:
        client.transport.send(sent)
        kafka.run()
        assert len(client.frames()) == 1

    assert garbage_of(respond) == 0


# ---- connections: many may be closed before the next collection

#: Bytes for which the broker closes the connection.
CLOSING = {
    "a body that is too short": raw_frame(3, 12, b"\xff" * 6, flexible=True),
    "a header that is too short": struct.pack(">ihhih", 10, 3, 1, 5, 100),
    "a large malformed request": raw_frame(3, 12, b"\xff" * 300_000, flexible=True),
    "an illegal length": struct.pack(">i", -1),
    "too large": struct.pack(">i", 2**31 - 1),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n",
    "an API that is not served": raw_frame(99, 0, b""),
    "acks=0 refused": frame(produce(acks=0, index=99), 9),
    "behind a request": frame(metadata("t"), 12) + b"\xff" * 20,
}


def fail_the_commit(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    client.send(produce(acks=0), 9)


def wait_for_memory(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.shared.memory.used_bytes += (taken := 10**12)
    client.transport.receive(struct.pack(">i", 300_000) + bytes(100))
    client.transport.drop()
    kafka.run()
    kafka.shared.memory.give(taken)


def disconnect_with_a_waiting_fetch(_kafka: FakeKafka, client: FakeClient) -> None:
    client.send(fetch(offset=1), 12)
    client.send(metadata("t"), 12)
    client.transport.drop()


def disconnect_before_the_commit(_kafka: FakeKafka, client: FakeClient) -> None:
    client.send(produce(), 9)
    client.transport.drop()


def disconnect_with_half_a_request(_kafka: FakeKafka, client: FakeClient) -> None:
    client.transport.receive(struct.pack(">i", 300_000) + bytes(100_000))
    client.transport.drop()


ENDS: dict[str, Callable[[FakeKafka, FakeClient], None]] = {
    "closed by the client": lambda _, client: client.transport.drop(),
    "after a response": lambda _, client: (
        client.request(metadata("t"), 12),
        client.transport.drop(),
    ),
    "aborted": lambda _, client: client.session.abort("slow_reader"),
    "drained": lambda _, client: client.session.drain(),
    "acks=0 failed": fail_the_commit,
    "waiting for memory": wait_for_memory,
    "a waiting fetch": disconnect_with_a_waiting_fetch,
    "before the commit": disconnect_before_the_commit,
    "half a request": disconnect_with_half_a_request,
} | {
    name: (lambda _, client, sent=sent: client.transport.send(sent))
    for name, sent in CLOSING.items()
}


@pytest.mark.parametrize("name", ENDS)
def test_a_closed_connection_is_freed_without_a_collection(kafka: FakeKafka, name: str) -> None:
    sessions: list[weakref.ref[Session]] = []

    def end() -> None:
        client = kafka.client()
        sessions.append(weakref.ref(client.session))
        ENDS[name](kafka, client)
        kafka.run()
        assert client.closed

    assert garbage_of(end) == 0
    assert sessions[-1]() is None


@pytest.mark.parametrize("user", [USER, "unknown", ""])
def test_a_connection_with_sasl_is_freed_without_a_collection(user: str) -> None:
    """Authenticated, refused, or without an attempt."""
    kafka = SaslKafka()
    kafka.add_user()
    sessions: list[weakref.ref[Session]] = []

    def end() -> None:
        client = kafka.client()
        sessions.append(weakref.ref(client.session))
        if user:
            handshake(client, "PLAIN")
            client.send(token(plain_token(user)), 2)
            kafka.after_the_delay()
        client.transport.drop()
        kafka.run()

    assert garbage_of(end) == 0
    assert sessions[-1]() is None


def test_a_refused_connection_is_freed_without_a_collection() -> None:
    kafka = FakeKafka(max_connections="0")
    sessions: list[weakref.ref[Session]] = []

    def refuse() -> None:
        client = kafka.client()
        sessions.append(weakref.ref(client.session))
        kafka.run()
        assert client.transport.aborted

    assert garbage_of(refuse) == 0
    assert sessions[-1]() is None


@pytest.mark.parametrize("new_loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop])
def test_transports_hold_no_session_of_a_closed_connection(
    kafka: FakeKafka, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def end(port: int, sent: bytes) -> weakref.ref[Session]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while not kafka.shared.sessions:
            await asyncio.sleep(0)
        (session,) = map(weakref.ref, kafka.shared.sessions)
        writer.write(sent)
        if not sent:
            writer.write_eof()
        closed = asyncio.ensure_future(reader.read())
        while not closed.done():
            kafka.run()
            await asyncio.sleep(0)
        writer.close()
        await writer.wait_closed()
        return session

    async def serve() -> None:
        listener = Listener(kafka.shared, UNSECURED)
        await listener.start(listen("127.0.0.1", 0))
        try:
            for name, sent in {"closed by the client": b"", **CLOSING}.items():
                session = await end(listener.bound[1], sent)
                for _ in range(10):  # passes in which the loop frees the transport
                    await asyncio.sleep(0)
                assert session() is None, name
        finally:
            listener.stop_accepting()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        gc.collect()
        gc.disable()
        try:
            runner.run(serve())
        finally:
            gc.enable()


# ---- requests that fail, wait or change groups


def join_and_delete_a_group(_kafka: FakeKafka, client: FakeClient) -> None:
    joined = client.request(join_request(group_id="new"), 3)
    known = (joined.generation_id, joined.member_id)
    client.request(sync_request(*known, {joined.member_id: b"a"}, group_id="new"), 3)
    client.request(heartbeat_request(*known, group_id="new"), 3)
    client.request(leave_request((joined.member_id, None), group_id="new"), 3)
    client.request(offset_commit("new", ("t", [at(0), at(1)])), 9)
    client.request(offset_delete("new", ("t", [0])), 0)
    assert delete_groups(client, "new") == [("new", 0)]


def fail_an_offset_commit(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    client.request(offset_commit("g", ("t", [at(0), at(1)])), 9)


def wait_for_records(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(fetch(max_wait_ms=500, offset=1), 12)
    kafka.scheduler.advance(500)
    assert len(client.frames()) == 1


@pytest.mark.parametrize("act", [join_and_delete_a_group, fail_an_offset_commit, wait_for_records])
def test_groups_failed_commits_and_waiting_fetches_leave_no_cycle(
    kafka: FakeKafka, act: Callable[[FakeKafka, FakeClient], None]
) -> None:
    client = kafka.client()
    assert garbage_of(lambda: act(kafka, client)) == 0


@pytest.mark.parametrize("loaded", [True, False])
def test_a_partition_that_cannot_be_read_holds_no_request(kafka: FakeKafka, loaded: bool) -> None:
    """It keeps the error until it can be read, and there may be thousands of such partitions."""
    kafka.topic("wide", 5)
    records = memoryview(record_batch(["x" * 300_000]))
    client = kafka.client()

    def refuse(index: int) -> int:
        if loaded:
            kafka.append(record_batch(["lost"]), "wide", index)
            kafka.commit.fail_next()
            kafka.run()
        kafka.log.failing = StorageFailed("cannot read")
        data = [{"index": index, "records": records}]
        topic_data = [{"name": "wide", "partition_data": data}]
        response = client.request(request_for("produce", acks=-1, topic_data=topic_data), 9)
        assert response.responses[0].partition_responses[0].error_code == 56
        kafka.log.failing = None
        return sum(isinstance(one, memoryview) and len(one) > 200_000 for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        held = [refuse(index) for index in range(5)]
    finally:
        gc.enable()
    assert len(set(held)) == 1, held
