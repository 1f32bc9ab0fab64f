"""A process that copies a partition in transactions, some of which it aborts, until it is killed.

A copy names its source and its transaction. The process writes a line for each transaction when the
broker has confirmed its end: the outcome and the transaction's name.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

SOURCE, TARGET, GROUP = "source", "target", "copiers"
PARTITIONS = 3
#: Two partitions get the copies of each source partition.
MOST_RECORDS = 6
ABORTED_SHARE = 0.25
PATIENCE_S = 20.0

QUICK = {
    "reconnect.backoff.ms": 5,
    "reconnect.backoff.max.ms": 50,
    # With re-bootstrapping, librdkafka 2.16 may lose its transaction coordinator for good.
    "metadata.recovery.strategy": "none",
    "log_level": 2,
}


class Copier:
    def __init__(self, bootstrap: str, partition: int) -> None:
        self.partition, self.chance = partition, random.Random()
        quick = QUICK | {"bootstrap.servers": bootstrap, "retry.backoff.ms": 10}
        transactional = {"transactional.id": f"copier-{partition}", "linger.ms": 0}
        self.producer = Producer(quick | transactional)
        committed = {"group.id": GROUP, "isolation.level": "read_committed"}
        settings = {"enable.auto.commit": False, "fetch.wait.max.ms": 20}
        self.consumer = Consumer(quick | committed | settings)
        self.name, self.transactions = f"{partition}.{os.getpid()}", 0

    def run(self) -> None:
        self.producer.init_transactions(PATIENCE_S)
        self._rewind()
        while True:
            records = self.consumer.consume(self.chance.randint(1, MOST_RECORDS), 0.05)
            copied = [record for record in records if record.error() is None]
            if copied:
                self._copy(copied)

    def _rewind(self) -> None:
        (found,) = self.consumer.committed([TopicPartition(SOURCE, self.partition)], PATIENCE_S)
        self.consumer.assign([TopicPartition(SOURCE, self.partition, max(found.offset, 0))])

    def _copy(self, records: list[Message]) -> None:
        self.transactions += 1
        name = f"{self.name}.{self.transactions}"
        try:
            self.producer.begin_transaction()
            for record in records:
                offset = record.offset() or 0
                target = (self.partition + offset % 2) % PARTITIONS
                self.producer.produce(TARGET, f"{self.partition} {offset} {name}", partition=target)
            if self.chance.random() < ABORTED_SHARE:
                self.producer.flush(PATIENCE_S)
                self._abort(name)
                return
            end = TopicPartition(SOURCE, self.partition, (records[-1].offset() or 0) + 1)
            group = self.consumer.consumer_group_metadata()
            self._repeated(lambda: self.producer.send_offsets_to_transaction([end], group))
            self._repeated(self.producer.commit_transaction)
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self._abort(name)
        else:
            os.write(1, f"committed {name}\n".encode())

    def _abort(self, name: str) -> None:
        self._repeated(self.producer.abort_transaction)
        os.write(1, f"aborted {name}\n".encode())
        self._rewind()

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
    Copier(sys.argv[1], int(sys.argv[2])).run()
