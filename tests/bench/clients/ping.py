"""Latency of a small request on its own connection, a thousand times a second, until stdin
ends: python -m tests.bench.clients.ping HOST:PORT TOPIC. Prints one JSON object.

The request is Metadata of one topic. The longest wait is the longest stall of the broker, plus what
the machine adds when all cores are busy.
"""

from __future__ import annotations

import gc
import json
import select
import sys
import time

from tests.e2e.raw_client import METADATA, RawClient, array, string

_EVERY_S = 0.001


def main() -> None:
    address, topic = sys.argv[1:]
    host, _, port = address.rpartition(":")
    body = array([string(topic)]) + b"\0"
    times: list[int] = []
    with RawClient(host, int(port)) as client:
        client.request(METADATA, 4, body)
        gc.disable()
        over = False
        while not over:
            started = time.perf_counter_ns()
            client.request(METADATA, 4, body)
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
