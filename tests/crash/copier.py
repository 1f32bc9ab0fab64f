"""A member of a group that copies a topic in transactions, some of which it aborts, until it is
killed.

A copy names its source and its transaction. The process writes a line for each transaction when the
broker has confirmed its end: the outcome and the transaction's name.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

SOURCE, TARGET, GROUP = "source", "target", "copiers"
PARTITIONS = 4
#: Two partitions get the copies of each source partition.
MOST_RECORDS = 6
ABORTED_SHARE = 0.25
#: Transactions that a member may be stopped in before it sends offsets.
SLOW_SHARE, SLOW_S = 0.04, 0.2
PATIENCE_S, OFFSETS_WITHIN_S = 20.0, 2.0

QUICK = {
    "reconnect.backoff.ms": 5,
    "reconnect.backoff.max.ms": 50,
    # With re-bootstrapping, librdkafka 2.16 may lose its transaction coordinator for good.
    "metadata.recovery.strategy": "none",
    "log_level": 2,
}


#: Of the classic protocol; the other one has those of the broker.
CLASSIC = {
    "session.timeout.ms": 200,
    "heartbeat.interval.ms": 50,
    "partition.assignment.strategy": "range",
}


class Copier:
    def __init__(self, bootstrap: str, member: str, protocol: str) -> None:
        self.chance, self.protocol = random.Random(), protocol
        quick = QUICK | {"bootstrap.servers": bootstrap, "retry.backoff.ms": 10}
        transactional = {"transactional.id": f"copier-{member}", "linger.ms": 0}
        self.producer = Producer(quick | transactional)
        # If an assignment changes while its offset is unstable, librdkafka 2.16 resets the offset.
        joined = {"group.id": GROUP, "group.protocol": protocol, "auto.offset.reset": "error"}
        committed = {"enable.auto.commit": False, "isolation.level": "read_committed"}
        settings = joined | committed | (CLASSIC if protocol == "classic" else {})
        self.consumer = Consumer(quick | settings | {"fetch.wait.max.ms": 20})
        self.name, self.transactions = f"{member}.{os.getpid()}", 0
        self.assigned: Any = None

    def run(self) -> None:
        self.producer.init_transactions(PATIENCE_S)
        self.consumer.subscribe([SOURCE], on_assign=self._on_assign)
        while True:
            records = self.consumer.consume(self.chance.randint(1, MOST_RECORDS), 0.05)
            for record in records:
                error = record.error()
                if error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET:
                    raise KafkaException(error)
            if copied := [record for record in records if record.error() is None]:
                self._copy(copied)

    def _on_assign(self, consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self.assigned = consumer.consumer_group_metadata()

    def _group(self) -> Any:
        """Of the assignment that the records are from. A member that the classic protocol has
        removed is without generation, which no broker checks; the other protocol raises the epoch
        without an assignment, and checks it always.
        """
        if self.protocol == "classic":
            return self.assigned
        return self.consumer.consumer_group_metadata()

    def _copy(self, records: list[Message]) -> None:
        self.transactions += 1
        name = f"{self.name}.{self.transactions}"
        ends: dict[int, int] = {}
        try:
            self.producer.begin_transaction()
            for record in records:
                source, offset = record.partition() or 0, record.offset() or 0
                target = (source + offset % 2) % PARTITIONS
                self.producer.produce(TARGET, f"{source} {offset} {name}", partition=target)
                ends[source] = offset + 1
            if self.chance.random() < SLOW_SHARE:
                time.sleep(self.chance.uniform(0, SLOW_S))
            offsets = [TopicPartition(SOURCE, source, end) for source, end in ends.items()]
            group = self._group()
            self._repeated(lambda: self.producer.send_offsets_to_transaction(offsets, group))
            if self.chance.random() < ABORTED_SHARE:
                self.producer.flush(PATIENCE_S)
                self._abort(name, records)
                return
            self._repeated(self.producer.commit_transaction)
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self._abort(name, records)
        else:
            os.write(1, f"committed {name}\n".encode())

    def _abort(self, name: str, records: list[Message]) -> None:
        self._repeated(self.producer.abort_transaction)
        os.write(1, f"aborted {name}\n".encode())
        sources = {record.partition() or 0 for record in records}
        asked = [TopicPartition(SOURCE, source) for source in sources]
        for found in self.consumer.committed(asked, OFFSETS_WITHIN_S):
            with suppress(KafkaException):  # it is another member's now
                self.consumer.seek(found)

    def _repeated(self, call: Callable[[], object]) -> None:
        while True:
            try:
                call()
            except KafkaException as failure:
                if not failure.args[0].retriable():
                    raise
            else:
                return


if __name__ == "__main__":
    Copier(*sys.argv[1:]).run()
