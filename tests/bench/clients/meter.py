"""Time from sending a record until a consumer has received it, in microseconds.

python -m tests.bench.clients.meter HOST:PORT TOPIC --count 3000 [--per-second 500]

One thread and two sockets: a fetch waits at the broker (or is on its way), a record is produced
with acks=all; the fetch response is read, then the produce response. The requests are encoded
beforehand, so the time is that of the broker and the machine. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import socket
import struct
import time
from collections.abc import Iterator

from tests.e2e.raw_client import (
    FETCH,
    PRODUCE,
    RawClient,
    batch,
    fetch_body,
    frame,
    produce_body,
    read_fetched,
    read_produced,
)

PRODUCE_VERSION, FETCH_VERSION = 7, 4
MAX_WAIT_MS = 10_000
VALUE_BYTES = 100
WARM_UP = 200


class Meter:
    def __init__(self, host: str, port: int, topic: str) -> None:
        self._producer = RawClient(host, port)
        self._consumer = RawClient(host, port)
        body = produce_body(topic, 0, batch([b"x" * VALUE_BYTES]))
        self._record = frame(PRODUCE, PRODUCE_VERSION, 1, body)
        body = fetch_body(topic, 0, 0x7A7A7A7A7A7A7A7A, max_wait_ms=MAX_WAIT_MS)
        self._fetch = bytearray(frame(FETCH, FETCH_VERSION, 1, body))
        self._offset_at = self._fetch.index(b"\x7a" * 8)
        self._next_offset = self._producer.end_offset(topic)
        self._buffer = memoryview(bytearray(1 << 20))

    def send_one(self, wait_s: float) -> tuple[int, int]:
        """Nanoseconds until the record was received, and until it was acknowledged."""
        struct.pack_into(">q", self._fetch, self._offset_at, self._next_offset)
        self._consumer.socket.sendall(self._fetch)
        if wait_s:
            time.sleep(wait_s)
        started = time.perf_counter_ns()
        self._producer.socket.sendall(self._record)
        self._receive(self._consumer.socket)
        received = time.perf_counter_ns()
        self._receive(self._producer.socket)
        acknowledged = time.perf_counter_ns()
        self._next_offset += 1
        return received - started, acknowledged - started

    def check_one(self, topic: str) -> None:
        """The same exchange, looked at: the record comes from where it was put."""
        self._consumer.send(
            FETCH, FETCH_VERSION, fetch_body(topic, 0, self._next_offset, max_wait_ms=MAX_WAIT_MS)
        )
        self._producer.socket.sendall(self._record)
        fetched = read_fetched(self._consumer.receive()[1])
        produced = read_produced(self._producer.receive()[1])
        assert (fetched.error, produced.error) == (0, 0), (fetched, produced)
        assert produced.base_offset == self._next_offset
        assert fetched.records.endswith(b"x" * VALUE_BYTES + b"\0")
        self._next_offset += 1

    def close(self) -> None:
        for client in (self._producer, self._consumer):
            client.socket.close()

    def _receive(self, connection: socket.socket) -> None:
        have, size = 0, 4
        while have < size:
            got = connection.recv_into(self._buffer[have:])
            if not got:
                raise ConnectionResetError("the broker closed the connection")
            have += got
            if have >= 4 and size == 4:
                size = 4 + int.from_bytes(self._buffer[:4], "big")
        assert have == size, "an unexpected response"


def waits_s(count: int, per_second: float) -> Iterator[float]:
    """Jitter: 0.5 to 1.5 times the mean, so that it does not align with timers of the broker."""
    chance = random.Random(count)
    for _ in range(count):
        yield chance.uniform(0.5, 1.5) / per_second if per_second else 0.0


def measure(host: str, port: int, topic: str, count: int, per_second: float) -> dict[str, float]:
    meter = Meter(host, port, topic)
    try:
        meter.check_one(topic)
        for _ in range(WARM_UP):
            meter.send_one(0)
        gc.disable()
        times = [meter.send_one(wait) for wait in waits_s(count, per_second)]
        gc.enable()
        meter.check_one(topic)
    finally:
        meter.close()
    received = sorted(one for one, _ in times)
    acknowledged = sorted(one for _, one in times)
    return {
        "records": count,
        "mean_us": sum(received) / count / 1000,
        **{f"{name}_us": _quantile(received, q) for name, q in _QUANTILES.items()},
        "acknowledged_p50_us": _quantile(acknowledged, 0.5),
        "acknowledged_p99_us": _quantile(acknowledged, 0.99),
    }


_QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "max": 1.0}


def _quantile(ordered: list[int], q: float) -> float:
    return ordered[int((len(ordered) - 1) * q)] / 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("topic")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--per-second", type=float, default=0, help="0: one after the other")
    options = parser.parse_args()
    host, _, port = options.address.rpartition(":")
    print(json.dumps(measure(host, int(port), options.topic, options.count, options.per_second)))


if __name__ == "__main__":
    main()
