"""`ottla perf produce`: the lines of kafka-producer-perf-test."""

from __future__ import annotations

import argparse
import time
from typing import Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.perf.latencies import Latencies, total_line, window_line
from interfaces.cli.perf.payload import payload
from interfaces.terminal.client_errors import in_words

_WINDOW_S = 5.0


def produce(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    producer = clients.producer(
        acks=parsed.acks,
        linger_ms=5,
        message_timeout_ms=max(1, int(clients.timeout_s * 1000)),
        message_max_bytes=1_000_000_000,
    )
    clients.metadata(producer)
    run = _Run(parsed.size)
    value = payload(parsed.size)
    began = time.monotonic()
    for number in range(parsed.number):
        while True:
            try:
                producer.produce(parsed.topic, value, on_delivery=run.answered)
                break
            except BufferError:
                producer.poll(0.01)
        producer.poll(0)
        if parsed.rate:
            early_s = began + (number + 1) / parsed.rate - time.monotonic()
            if early_s > 0:
                producer.poll(early_s)
        if run.refused:
            break
        run.tell()
    producer.flush()
    if run.refused:
        raise CommandFailed(f"{parsed.topic}: {run.refused}")
    print(run.total(), flush=True)
    return 0


class _Run:
    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._began = self._window_began = time.monotonic()
        self._all, self._window = Latencies(), Latencies()
        self.refused = ""

    def answered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.refused = self.refused or in_words(error)
            return
        milliseconds = message.latency() * 1000
        self._all.add(milliseconds)
        self._window.add(milliseconds)

    def tell(self) -> None:
        now = time.monotonic()
        seconds = now - self._window_began
        if seconds < _WINDOW_S:
            return
        count = len(self._window)
        print(window_line(count, count * self._size_bytes, seconds, self._window), flush=True)
        self._window, self._window_began = Latencies(), now

    def total(self) -> str:
        count = len(self._all)
        seconds = time.monotonic() - self._began
        return total_line(count, count * self._size_bytes, seconds, self._all)
