"""The recorded run: a whole broker in one process, over a store on the real disk.

    python -m tests.power.workload DISK MARKS ENGINE FLUSH SEED PASSES

Topics are created and deleted under load, so pages are freed and reused; several clients share a
commit; producers are idempotent or plain; batches have all sizes, are replaced by compaction and
removed by retention; snapshots are written now and then; in the middle the broker is stopped and
restarted.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from typing import Any

from application.ports.log_store import END_OF_PASS
from domain.messages.batch import RecordBatch, batches_in
from domain.partitions.partition import Partition
from interfaces.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, InProcessKafka
from tests.fakes.topic_requests import create, new
from tests.power.ledger import digest

CLIENTS = 4
VALUE_SIZES = (10, 100, 100, 700, 3000, 9000, 40_000)
#: A pass takes 20.
SEGMENT_MS = 200
#: Of topics with retention.
RETAINED_BYTES = 5_000, 100_000


class Producer:
    """A producer for one partition on one connection, idempotent or not."""

    def __init__(self, producer_id: int, client: int) -> None:
        self.producer_id = producer_id
        self.client = client
        self.sequence = 0 if producer_id >= 0 else -1

    def batch(self, values: list[bytes], now_ms: int) -> tuple[bytearray, tuple[int, int, int]]:
        epoch = 0 if self.producer_id >= 0 else -1
        stamp = (self.producer_id, epoch, self.sequence)
        if self.producer_id >= 0:
            self.sequence += len(values)
        rows = [(None, value, (), now_ms) for value in values]
        batch = record_batch(
            rows, producer_id=stamp[0], epoch=stamp[1], sequence=stamp[2], timestamp=now_ms
        )
        return batch, stamp


class Workload:
    def __init__(self, disk: str, marks: str, engine: str, flush: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.url, self.flush = f"{engine}://{disk}/data", flush
        self.marks = os.open(marks, os.O_WRONLY | os.O_CREAT, 0o600)
        self.topics: dict[str, tuple[str, int]] = {}
        self.retained: dict[str, int] = {}
        self.producers: dict[tuple[str, int], list[Producer]] = {}
        self.now_ms = 0
        self.open()

    def open(self) -> None:
        self.kafka = InProcessKafka(
            self.url, flush=self.flush, log_retention_check_interval_ms="100"
        )
        self.kafka.clock.advance(self.now_ms)
        self.kafka.broker.start_upkeep()
        self.clients = [self.kafka.client() for _ in range(CLIENTS)]
        storage = self.kafka.core.storage
        self.log, self.start_flush = storage.log, storage.start_flush

    def close(self) -> None:
        failures: list[Any] = []
        self.kafka.broker.snapshot_all(failures.append)
        self.kafka.run()
        assert failures == [None]
        self.kafka.close()
        self.mark(["closed"])

    def mark(self, *lines: list[Any]) -> None:
        os.write(self.marks, json.dumps(lines).encode())

    def run(self, passes: int) -> None:
        for name in ("a", "b", "c"):
            self.create(name)
        for number in range(passes):
            self.produce()
            if number % 25 == 13:
                self.replace_a_topic()
            if number % 17 == 5:
                self.snapshot()
            if number % 7 == 3:
                self.replace_batches()
            if number % 12 == 7:
                self.flush_in_thread()
            if number % 12 == 9:
                self.wait_for_flush()
            if number == passes // 2:
                self.close()
                self.open()
            self.kafka.scheduler.advance(20)
            self.now_ms += 20
        self.close()

    def flush_in_thread(self) -> None:
        if self.start_flush is not None:
            # One that is running would make the next one wait.
            self.wait_for_flush()
            self.mark(["flushing"])
            self.start_flush()

    def wait_for_flush(self) -> None:
        for thread in threading.enumerate():
            if thread.name == "ottla-flush":
                thread.join()

    # ---- requests

    def create(self, name: str) -> None:
        partitions = self.chance.choice([1, 2, 3])
        retained = str(self.chance.choice([-1, *RETAINED_BYTES]))
        topic = new(
            name,
            partitions,
            retention_ms="-1",
            retention_bytes=retained,
            segment_ms=str(SEGMENT_MS),
        )
        (created,) = create(self.clients[0], topic)
        assert created.error_code == 0, created
        topic_id = created.topic_id.hex()
        self.topics[name] = (topic_id, partitions)
        self.retained[name] = int(retained)
        self.mark(["topic", name, topic_id, partitions, int(retained)])
        for index in range(partitions):
            given = self.clients[0].request(InitProducerIdRequest(transactional_id=None), 4)
            assert given.error_code == 0, given
            self.mark(["producer", given.producer_id])
            self.producers[topic_id, index] = [
                Producer(producer_id, self.chance.randrange(CLIENTS))
                for producer_id in (given.producer_id, -1)
            ]

    def replace_a_topic(self) -> None:
        name = self.chance.choice(sorted(self.topics))
        topic_id, _ = self.topics.pop(name)
        self.mark(["deleting", topic_id])
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
        (deleted,) = self.clients[0].request(request, 6).responses
        assert deleted.error_code == 0, deleted
        self.mark(["deleted", topic_id])
        self.create(name)

    def snapshot(self) -> None:
        """Writes a snapshot with the next commit, as after 8 MB of a partition."""
        for partition in self.kafka.broker.catalog.loaded():
            if self.chance.random() < 0.3:
                self.kafka.broker.partitions.snapshot(partition)

    def replace_batches(self) -> None:
        """As compaction does: other entries, pages and files, and some batches are gone."""
        for partition in self.kafka.broker.catalog.loaded():
            start, partition_id = partition.log_start_offset, partition.partition_id
            batches = list(batches_in(self.log.read(partition_id, start, 1 << 62, 1 << 20, False)))
            first = self.chance.randrange(len(batches) + 1)
            if replaced := batches[first : first + self.chance.choice([1, 5, 50])]:
                edges = replaced[0].base_offset, replaced[-1].last_offset
                gone = self.removable(partition, batches, replaced)
                left = [bytes(one.buffer) for one in replaced if one not in gone]
                place = self.topics[partition.topic][0], partition.index
                names = [digest(one.buffer) for one in gone]
                self.copy_before(partition, edges[0])
                self.mark(["removing", *place, *names])
                partition.compacted(self.log.replace(partition_id, *edges, left, []))
                self.commit(partition)
                self.mark(["removed", *place, *names])
                if self.chance.random() < 0.5:
                    self.copy_before(partition, END_OF_PASS)

    def removable(
        self, partition: Partition, batches: list[RecordBatch], replaced: list[RecordBatch]
    ) -> list[RecordBatch]:
        """Some, but for the newest of each producer; none where retention counts bytes."""
        if self.retained[partition.topic] >= 0:
            return []
        newest = {one.producer_id: one for one in batches}
        share = self.chance.choice([0, 0.3, 0.9])
        return [
            one
            for one in replaced
            if newest[one.producer_id] is not one and self.chance.random() < share
        ]

    def copy_before(self, partition: Partition, offset: int) -> None:
        while not self.log.copy_before(partition.partition_id, offset):
            self.commit(partition)

    def commit(self, partition: Partition) -> None:
        self.kafka.broker.commits.touch(partition)
        self.kafka.run()
        assert partition.broken is None

    def produce(self) -> None:
        """Several clients in one pass, each with a few requests in flight: one commit."""
        pending: dict[FakeClient, list[tuple[str, int, str]]] = {}
        sent, requests = [], []
        for _ in range(self.chance.randint(1, 10)):
            name = self.chance.choice(sorted(self.topics))
            topic_id, partitions = self.topics[name]
            index = self.chance.randrange(partitions)
            producer = self.chance.choice(self.producers[topic_id, index])
            client = self.clients[producer.client]
            batch, stamp = producer.batch(self.values(), self.kafka.clock.now_ms())
            content = digest(batch)
            sent.append(["sent", topic_id, index, content, _records(batch), *stamp])
            pending.setdefault(client, []).append((topic_id, index, content))
            requests.append((client, _request(name, index, batch)))
        self.mark(*sent)
        for client, request in requests:
            client.send(request, 9)
        self.kafka.run()
        acked = []
        for client, places in pending.items():
            responses = client.responses()
            assert len(responses) == len(places)
            for (topic_id, index, content), response in zip(places, responses, strict=True):
                (partition,) = response.responses[0].partition_responses
                assert partition.error_code == 0, partition
                acked.append(["acked", topic_id, index, content, partition.base_offset])
        self.mark(*acked)

    def values(self) -> list[bytes]:
        size = self.chance.choice(VALUE_SIZES)
        return [self.chance.randbytes(size) for _ in range(self.chance.choice([1, 1, 2, 5]))]


def _records(batch: bytearray) -> int:
    return int.from_bytes(batch[57:61], "big")


def _request(name: str, index: int, batch: bytearray) -> ProduceRequest:
    data = PartitionProduceData(index=index, records=memoryview(batch))
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name=name, partition_data=[data])])


def main(arguments: list[str]) -> None:
    disk, marks, engine, flush, seed, passes = arguments
    Workload(disk, marks, engine, flush, int(seed)).run(int(passes))


if __name__ == "__main__":
    main(sys.argv[1:])
