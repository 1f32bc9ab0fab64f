"""Producers with a ledger of acknowledged records, which is compared with the log later."""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Self

from confluent_kafka import KafkaError, Message, Producer

from tests.e2e.broker_process import Address
from tests.e2e.raw_client import (
    PRODUCE,
    RawClient,
    batch,
    produce_body,
    read_produced,
    sealed_part,
)

PATIENCE_S = 30.0


class Acknowledged:
    """Counts acknowledgements, so that a test can wait for the next hundred."""

    def __init__(self) -> None:
        self.count, self.changed = 0, threading.Condition()

    def one_more(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait_for_more(self, number: int) -> None:
        with self.changed:
            target = self.count + number
            arrived = self.changed.wait_for(lambda: self.count >= target, PATIENCE_S)
        assert arrived, f"{target - self.count} acknowledgements are missing"


@dataclass
class RawLoad:
    """Plain batches of unlike sizes, several in flight; ends when the connection does."""

    address: Address
    topic: str
    partition: int
    acknowledged: Acknowledged
    in_flight: int = 5
    ledger: dict[int, bytes] = field(default_factory=dict)
    refusals: list[int] = field(default_factory=list)
    thread: threading.Thread = field(init=False)

    def start(self) -> None:
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        sent: deque[bytes] = deque()
        try:
            with self.address.connect() as client:
                while True:
                    while len(sent) < self.in_flight:
                        sent.append(self.send_next(client))
                    error, offset = read_produced(client.receive()[1])
                    acknowledged = sent.popleft()
                    if error:
                        self.refusals.append(error)
                    else:
                        self.ledger[offset] = acknowledged
                        self.acknowledged.one_more()
        except OSError:
            return

    def send_next(self, client: RawClient) -> bytes:
        values = [os.urandom(40 + client.next_id % 7 * 700) for _ in range(1 + client.next_id % 3)]
        one = batch(values)
        client.send(PRODUCE, 7, produce_body(self.topic, self.partition, one))
        return one

    def join(self) -> None:
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive(), "the connection was neither served nor closed"

    def check(self, client: RawClient) -> None:
        """Every acknowledged batch is there once, at its offset, byte for byte."""
        found = client.fetch_everything(self.topic, self.partition)
        there = {offset: sealed_part(one) for offset, one in found}
        assert len(there) == len(found)
        for offset, one in self.ledger.items():
            assert there.get(offset) == sealed_part(one), f"offset {offset}"
        contents = list(there.values())
        assert len(set(contents)) == len(contents), "something is there twice"


class IdempotentLoad:
    """librdkafka numbering its messages; lives through the broker's restarts and retries."""

    def __init__(
        self, address: Address, topic: str, partition: int, acknowledged: Acknowledged
    ) -> None:
        self.topic, self.partition, self.acknowledged = topic, partition, acknowledged
        self.ledger: dict[int, bytes] = {}
        self.errors: list[KafkaError] = []
        self.stopping = threading.Event()
        self.producer = Producer(
            {
                "bootstrap.servers": address.bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "batch.num.messages": 20,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "retry.backoff.ms": 20,
                "log_level": 0,
            }
        )
        self.produced = 0
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self.stopping.set()
        self.thread.join(PATIENCE_S)
        self.producer.purge()

    def run(self) -> None:
        while not self.stopping.is_set():
            if len(self.producer) < 200:
                value = b"%d" % self.produced
                self.producer.produce(
                    self.topic, value, partition=self.partition, on_delivery=self.report
                )
                self.produced += 1
                self.producer.poll(0)
            else:
                self.producer.poll(0.05)

    def report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
            return
        self.ledger[message.offset() or 0] = message.value() or b""
        self.acknowledged.one_more()

    def stop(self) -> None:
        """Stops producing and waits until every message has its report."""
        self.stopping.set()
        self.thread.join(PATIENCE_S)
        assert self.producer.flush(PATIENCE_S) == 0, "messages without a report"

    def check(self, values: list[bytes | None]) -> None:
        """`values`: the whole partition. Each message once, in its order, at its offset."""
        assert not self.errors, self.errors[:3]
        assert values == [b"%d" % number for number in range(self.produced)]
        assert self.ledger == dict(enumerate(values))
