"""How long do garbage collections hold up a busy broker, by their thresholds?

    python -m tests.bench.garbage

A broker with 30,000 partitions answers 200 connections that keep three produce requests in flight.
Each policy has a process of its own. The result is docs/adr/0004-garbage-collection.md.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time

from tests.fakes.client import InProcessKafka, frame
from tests.fakes.requests import produce

POLICIES = {
    "CPython's own": gc.get_threshold(),
    "the broker's": (5_000, 20, 50),
    "a tenth as often": (50_000, 20, 50),
    "none": (0, 0, 0),
}
TOPICS, PARTITIONS, CONNECTIONS, IN_FLIGHT, PASSES = 60, 500, 200, 3, 200


def measure(thresholds: tuple[int, int, int]) -> dict[str, float]:
    kafka = InProcessKafka()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)
    for number in range(TOPICS):
        kafka.topic(f"topic-{number}", PARTITIONS)
        for index in range(PARTITIONS):
            kafka.partition(f"topic-{number}", index)
    kafka.topic("t")
    clients = [kafka.client() for _ in range(CONNECTIONS)]
    requests = frame(produce("x" * 100), 9) * IN_FLIGHT
    pauses_ms = _watch_pauses()
    began = time.process_time()
    for _ in range(PASSES):
        for client in clients:
            client.transport.receive(requests)
        kafka.run()
        for client in clients:
            client.transport.taken.clear()
    elapsed_s = time.process_time() - began
    return {
        "us_per_request": elapsed_s / (PASSES * CONNECTIONS * IN_FLIGHT) * 1e6,
        "collections": len(pauses_ms),
        "longest_ms": max(pauses_ms, default=0),
        "share": sum(pauses_ms) / 1e3 / elapsed_s,
    }


def _watch_pauses() -> list[float]:
    """Of CPU, so that other work on the machine does not count."""
    pauses_ms: list[float] = []
    began = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.process_time()
        else:
            pauses_ms.append((time.process_time() - began) * 1e3)

    gc.callbacks.append(note)
    return pauses_ms


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(tuple(json.loads(sys.argv[1])))))
        return
    print("| thresholds | us a request | collections | longest ms | share of CPU |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, thresholds in POLICIES.items():
        command = [sys.executable, "-m", "tests.bench.garbage", json.dumps(thresholds)]
        got = json.loads(subprocess.check_output(command))
        print(
            f"| {name}, {thresholds} | {got['us_per_request']:.1f} | {got['collections']:.0f} "
            f"| {got['longest_ms']:.1f} | {got['share']:.1%} |"
        )


if __name__ == "__main__":
    main()
