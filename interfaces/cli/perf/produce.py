"""`ottla perf produce`: the lines of kafka-producer-perf-test."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.perf.latencies import Latencies, total_line, window_line
from interfaces.cli.perf.payload import payload
from interfaces.cli.refusals import why_refused

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

_WINDOW_S = 5.0


def produce(parsed: argparse.Namespace) -> int:
    from confluent_kafka import KafkaException

    clients = Clients(parsed)
    producer = clients.producer(
        acks=parsed.acks,
        linger_ms=5,
        message_timeout_ms=max(1, int(clients.timeout_s * 1000)),
        message_max_bytes=1_000_000_000,
    )
    clients.metadata(producer)
    run = _Run(parsed.size, parsed.number)
    value = payload(parsed.size)
    began = time.monotonic()
    for number in range(parsed.number):
        while True:
            try:
                producer.produce(parsed.topic, value, on_delivery=run.delivered)
                break
            except BufferError:
                if not run.count:
                    clients.diagnose_silence()
                producer.poll(0.01)
            except KafkaException as failure:  # the topic does not exist
                run.refused = run.refused or failure.args[0]
                break
        producer.poll(0)
        if parsed.rate:
            early_s = began + (number + 1) / parsed.rate - time.monotonic()
            if early_s > 0:
                producer.poll(early_s)
        if run.refused is not None:
            break
        run.print_window()
    clients.flush(producer, is_silent=not run.count)
    if run.refused is not None:
        raise CommandFailed(why_refused(clients, run.refused, parsed.topic))
    print(run.total(), flush=True)
    return 0


class _Run:
    def __init__(self, size_bytes: int, number: int) -> None:
        self._size_bytes = size_bytes
        self._began = self._window_began = time.monotonic()
        self._all, self._window = Latencies(number), Latencies(number)
        self._number = number
        self.refused: KafkaError | None = None

    @property
    def count(self) -> int:
        return self._all.count

    def delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self.refused = self.refused or error
            return
        milliseconds = message.latency() * 1000
        self._all.add(milliseconds)
        self._window.add(milliseconds)

    def print_window(self) -> None:
        now = time.monotonic()
        seconds = now - self._window_began
        if seconds < _WINDOW_S:
            return
        print(window_line(self._size_bytes, seconds, self._window), flush=True)
        self._window, self._window_began = Latencies(self._number), now

    def total(self) -> str:
        seconds = time.monotonic() - self._began
        return total_line(self._size_bytes, seconds, self._all)
