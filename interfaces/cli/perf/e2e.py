"""`ottla perf e2e`: the lines of kafka-e2e-latency, one record in flight at a time."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.perf.latencies import Latencies
from interfaces.cli.perf.payload import payload
from interfaces.cli.positions import bounds_of

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

_PRINT_EVERY = 1000


def e2e(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    producer = clients.producer(acks=parsed.acks, linger_ms=0)
    consumer = clients.consumer(fetch_wait_max_ms=100, enable_partition_eof=False)
    try:
        _seek_to_end(clients, consumer, parsed.topic)
        _measure(parsed, clients.timeout_s, producer, consumer)
    finally:
        consumer.close()
    return 0


def _seek_to_end(clients: Clients, consumer: Consumer, topic: str) -> None:
    from confluent_kafka import TopicPartition

    places = [(topic, number) for number in clients.partitions(consumer, topic)]
    [bounds] = bounds_of(clients, clients.admin(), places)
    consumer.assign([TopicPartition(*place, bounds[place].end) for place in places])


def _measure(
    parsed: argparse.Namespace, timeout_s: float, producer: Producer, consumer: Consumer
) -> None:
    refused: list[str] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            refused.append(error.str())

    latencies = Latencies()
    for number in range(parsed.number):
        value = payload(parsed.size)
        began = time.monotonic()
        producer.produce(parsed.topic, value, on_delivery=delivered)
        message = consumer.poll(timeout_s)
        milliseconds = (time.monotonic() - began) * 1000
        producer.poll(0)
        _check(parsed.topic, value, message, refused)
        latencies.add(milliseconds)
        if number % _PRINT_EVERY == 0:
            print(f"{number}\t{milliseconds}", flush=True)
    half, nearly, almost = latencies.percentiles((0.5, 0.99, 0.999))
    print(f"Avg latency: {latencies.average:.4f} ms")
    print(f"Percentiles: 50th = {half}, 99th = {nearly}, 99.9th = {almost}", flush=True)


def _check(topic: str, value: bytes, message: Any, refused: list[str]) -> None:
    if refused:
        raise CommandFailed(f"{topic}: {refused[0]}")
    if message is None:
        raise CommandFailed(f"{topic}: no record within the timeout")
    if message.error() is not None:
        raise CommandFailed(f"{topic}: {message.error().str()}")
    if message.value() != value:
        raise CommandFailed(
            f"{topic}: another client writes to it; the measurement needs a topic of its own"
        )
