"""Latency of a small request on its own connection, a thousand times a second, until stdin
ends: python -m tests.bench.clients.ping HOST:PORT TOPIC [produce]. Prints one JSON object.

The request is Metadata of one topic, or Produce of one record. The longest wait is the longest
stall of the broker, plus what the machine adds when all cores are busy.
"""

from __future__ import annotations

import gc
import json
import select
import sys
import time

from tests.e2e.raw_client import METADATA, PRODUCE, RawClient, array, batch, produce_body, string

_EVERY_S = 0.001


def main() -> None:
    address, topic, *produces = sys.argv[1:]
    host, _, port = address.rpartition(":")
    request = METADATA, 4, array([string(topic)]) + b"\0"
    if produces:
        request = PRODUCE, 7, produce_body(topic, 0, batch([b"x" * 100]))
    times: list[int] = []
    with RawClient(host, int(port)) as client:
        client.request(*request)
        gc.disable()
        over = False
        while not over:
            started = time.perf_counter_ns()
            client.request(*request)
            times.append(time.perf_counter_ns() - started)
            over = bool(select.select([sys.stdin], [], [], _EVERY_S)[0])
    times.sort()
    figures = {
        f"ping_{name}_us": times[int((len(times) - 1) * q)] / 1000
        for name, q in {"p50": 0.5, "p99": 0.99, "max": 1.0}.items()
    }
    print(json.dumps({"pings": len(times), **figures}))


if __name__ == "__main__":
    main()
