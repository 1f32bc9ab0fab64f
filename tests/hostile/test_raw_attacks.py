"""Attacks on a raw listener, with healthy clients beside them; memory stays below the formula."""

from __future__ import annotations

import os
import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from application.streams.blocks import MOST_BYTES
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw_client import RawClient, batch
from tests.fakes.batches import ZSTD, Record, record_batch
from tests.hostile.attack import (
    KIB,
    MIB,
    PATIENCE_S,
    Attacked,
    may_open,
    open_files,
    reset,
    send_all_at_once,
)

PRODUCER, CONSUMER = b"\1", b"\2"
TOPIC = "raw"
#: Blocks that consumers share, and the batch that is being read, record by record.
STREAM_BYTES = MOST_BYTES + 16 * MIB
ENDLESS = struct.pack(">I", 2**31 - 1)


def attacked_stream(start: Callable[..., Attacked], **more: str) -> Attacked:
    attacked = start(raw_listeners="127.0.0.1:0", raw_topic=TOPIC, **more)
    with connected(attacked, 1) as [client]:
        assert round_trip(client, b"first", is_new=True) == 0
    return attacked


@contextmanager
def connected(attacked: Attacked, count: int) -> Iterator[list[RawClient]]:
    """Connections to the raw listener."""
    port = int(attacked.broker.ready["raw"][0].rpartition(":")[2])
    with ExitStack() as opened:
        yield [opened.enter_context(RawClient("127.0.0.1", port, PATIENCE_S)) for _ in range(count)]


def framed(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def round_trip(client: RawClient, value: bytes, is_new: bool = False) -> int:
    client.socket.sendall((PRODUCER if is_new else b"") + framed(value))
    return int.from_bytes(client.receive_exactly(8), "big")


@contextmanager
def healthy_stream(attacked: Attacked) -> Iterator[None]:
    """A producer from before the attack, and one and a consumer after it."""
    with connected(attacked, 1) as [early]:
        start = round_trip(early, b"early", is_new=True)
        yield
        position = round_trip(early, b"in between")
        with connected(attacked, 2) as [late, consumer]:
            last = round_trip(late, b"late", is_new=True)
            assert start < position < last
            consumer.socket.sendall(CONSUMER + struct.pack(">Q", last))
            assert consumer.receive_exactly(8) == framed(b"late")
            # If it only ended its side, the broker would wait for the next record or until idle.
            reset(consumer)


def settles(broker: BrokerProcess, files: int) -> bool:
    """The broker notices closed connections a little later."""
    for _ in range(1000):
        if open_files(broker) <= files:
            return True
        time.sleep(0.005)
    return False


def test_connections_that_send_nothing_or_a_byte_and_half_records(
    start: Callable[..., Attacked],
) -> None:
    if not may_open(5000):
        pytest.skip("the limit of open files cannot be raised to 5,000")
    attacked = attacked_stream(start)
    before = open_files(attacked.broker)
    count, halves = 1500, 150
    with (
        healthy_stream(attacked),
        connected(attacked, count) as clients,
        attacked.endured(connections=count + 3, active=halves),
    ):
        for number, client in enumerate(clients[halves:]):
            match number % 5:
                case 0:
                    client.socket.sendall(PRODUCER)
                case 1:
                    client.socket.sendall(CONSUMER + bytes(4))
                case 2:
                    client.socket.sendall(PRODUCER + bytes(3))
        half = PRODUCER + framed(bytes(120 * KIB))[:-1]
        send_all_at_once(clients[:halves], [half] * halves, idle_s=0.2)
        for client in clients[::3]:
            reset(client)
    assert settles(attacked.broker, before)


def test_lengths_without_end_and_other_bytes(start: Callable[..., Attacked]) -> None:
    attacked = attacked_stream(start)
    chance = random.Random(1)
    malformed = [
        PRODUCER + ENDLESS,
        PRODUCER + framed(b"valid") + struct.pack(">I", 2**32 - 1) + bytes(100),
        CONSUMER + struct.pack(">Q", 2),
        CONSUMER + struct.pack(">Q", 2**64 - 1),
        CONSUMER + bytes(9),
        b"GET / HTTP/1.1\r\nHost: raw\r\n\r\n",
        b"\x16\x03\x01\x02\x00" + bytes(500),
        b"\0" + chance.randbytes(1000),
    ]
    at_once = 200
    with healthy_stream(attacked), attacked.endured(connections=at_once + 3, active=at_once):
        for _ in range(4):
            with connected(attacked, at_once) as clients:
                for number, client in enumerate(clients):
                    client.socket.sendall(malformed[number % len(malformed)])
                for client in clients:
                    assert client.is_closed_by_peer()
    log = attacked.broker.log(1 << 20)
    assert '"reason":"malformed_request"' in log and '"reason":"invalid_start"' in log


def test_large_records_that_lack_a_byte_wait_for_memory(start: Callable[..., Attacked]) -> None:
    """There is memory for eight; small records are not affected, and half of the clients vanish."""
    attacked = attacked_stream(start)
    count = 100
    whole = PRODUCER + framed(os.urandom(MIB - KIB))
    assert count * len(whole) > 10 * attacked.config.queued_max_request_bytes, "no attack at all"
    with (
        healthy_stream(attacked),
        connected(attacked, count) as clients,
        attacked.endured(connections=count + 3, active=count),
    ):
        send_all_at_once(clients, [whole[:-1]] * count, idle_s=0.3)
        for client in clients[1::2]:
            reset(client)
        for client in clients[::2]:
            client.socket.sendall(whole[-1:])
            assert len(client.receive_exactly(8)) == 8


def large_records() -> bytes:
    return batch([os.urandom(MIB - 500)])


def tiny_records() -> bytes:
    """Of many sizes: no run."""
    values: list[Record] = [b"x" * (number % 3) for number in range(20_000)]
    return bytes(record_batch(values, codec=ZSTD, timestamp=int(time.time() * 1000)))


@pytest.mark.parametrize("records", [large_records, tiny_records], ids=["large", "tiny"])
def test_consumers_that_never_read(
    start: Callable[..., Attacked], records: Callable[[], bytes]
) -> None:
    attacked = attacked_stream(start)
    with attacked.broker.connect() as client:
        whole = records()
        for _ in range(20):
            assert client.produce(TOPIC, whole).error == 0
    count = 100
    before = attacked.broker.resident_anonymous_kib() * KIB
    with (
        healthy_stream(attacked),
        connected(attacked, count) as clients,
        attacked.endured(connections=count + 3, active=count) as endured,
    ):
        for client in clients:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.socket.sendall(CONSUMER + bytes(8))
        endured.go_on(50)
    unread = 2 * attacked.config.queued_max_response_bytes
    print(f"{(endured.most_bytes - before) / MIB:.0f} MiB of {(unread + STREAM_BYTES) / MIB:.0f}")
    assert endured.most_bytes - before <= unread + STREAM_BYTES


def test_records_that_arrive_byte_by_byte(start: Callable[..., Attacked]) -> None:
    attacked = attacked_stream(start, connections_max_idle_ms="1000")
    record, count = PRODUCER + framed(b"drop by drop"), 60
    with (
        healthy_stream(attacked),
        connected(attacked, count) as clients,
        attacked.endured(connections=count + 3, active=count),
    ):
        for at in range(len(record)):
            for client in clients:
                client.socket.sendall(record[at : at + 1])
        positions = [int.from_bytes(client.receive_exactly(8), "big") for client in clients]
        assert len(set(positions)) == count


def test_idle_connections_are_closed_and_their_number_is_limited(
    start: Callable[..., Attacked],
) -> None:
    """A consumer that waits for records is not idle."""
    attacked = attacked_stream(start, connections_max_idle_ms="300", max_connections_per_ip="10")
    with connected(attacked, 5) as [silent, producer, half, start_only, consumer]:
        consumer.socket.sendall(CONSUMER + bytes(8))
        assert consumer.receive_exactly(9) == framed(b"first")
        round_trip(producer, b"one record", is_new=True)
        half.socket.sendall(PRODUCER + bytes(2))
        start_only.socket.sendall(CONSUMER)
        for client in (silent, producer, start_only):
            assert client.is_closed_by_peer()
        assert consumer.receive_exactly(14) == framed(b"one record")
    with connected(attacked, 40) as clients:
        refused = 0
        for client in clients:
            client.socket.settimeout(0.02)
            refused += client.is_closed_by_peer()
        assert refused >= 30
    assert "max_connections_per_ip" in attacked.broker.log(1 << 20)
