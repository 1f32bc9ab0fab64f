"""Two brokers over one store: the leadership of a partition moves between them, by a seed.

A broker knows when its own lease ends, and learns late of a new one. Its earlier commits may end
after that: the store refuses batches of an old epoch, as a shared store has to. Others may have
been persisted, and the broker learns it when another one leads. A producer and a consumer follow
metadata.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from domain.cluster.nodes import Leader, Node
from infrastructure.storage.engine import Storage, StorageInfo
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.broker import InProcessBroker
from tests.fakes.client import LISTENER, FakeClient, FakeListener
from tests.fakes.clock import FakeClock
from tests.fakes.logs import FakeRequestLog
from tests.fakes.placement import FakePlacement
from tests.simulation.disk import Append, Change, Disk
from tests.simulation.model import Violation
from tests.simulation.store import Fate, SimulatedStore

RECORDS = 40
PRODUCER_ID = 4711
PATIENCE_STEPS = 20_000

#: Errors after which a client refreshes metadata and retries.
STORAGE, NOT_LEADER, FENCED, UNKNOWN_EPOCH = 56, 6, 74, 75
TRY_AGAIN = {STORAGE, NOT_LEADER, FENCED, UNKNOWN_EPOCH}
NODES = [Node(each, None, {LISTENER: (f"192.0.2.{each}", 9092)}) for each in (1, 2)]
#: How long a commit takes.
DELAYS_MS = (0, 0, 2, 9)
#: How much later than others its broker knows it.
LATE_MS = (*[0] * 9, 20)


class FencedFate(Fate):
    """Fails a commit if the epoch of a batch has ended when the commit is done."""

    __slots__ = ("_changes", "_truth")

    def __init__(
        self, changes: list[Change], truth: dict[int, Leader], delay_ms: int, late_ms: int
    ) -> None:
        self.delay_ms = delay_ms
        self.late_ms = late_ms
        self.dies = False
        self._changes = changes
        self._truth = truth

    @property
    def fails(self) -> bool:  # type: ignore[override]
        return any(
            int.from_bytes(one.batch[12:16], "big") != self._truth[one.partition_id].epoch
            for one in self._changes
            if isinstance(one, Append)
        )


class BrokerOfTwo(InProcessBroker):
    """Implements `StoreControl` of its store."""

    def __init__(self, world: Any, node_id: int, **settings: str) -> None:
        self.world = world
        super().__init__(node_id=str(node_id), **settings)
        self.listener = FakeListener(self, FakeRequestLog())

    def _placement(self) -> FakePlacement:
        placement = FakePlacement(self.config.node_id)
        placement.add(NODES[self.config.node_id % 2])
        return placement

    def _clock(self) -> FakeClock:
        return self.clock

    def _storage(self, url: str, flush: str) -> Storage:
        store = SimulatedStore(self.world.disk, self.scheduler, self)
        info = StorageInfo("simulated", None, 0, "os", "a-store")
        return Storage(store, store, store, info)

    def fate(self, changes: list[Change]) -> Fate:
        return FencedFate(changes, self.world.truth, *self._times_ms())

    def _times_ms(self) -> tuple[int, int]:
        random = self.world.random
        if not self.world.truth:
            return 0, 0
        delay_ms, late_ms = random.choice(DELAYS_MS), random.choice(LATE_MS)
        self.world.open += bool(late_ms)
        return delay_ms, late_ms

    def called(self) -> None: ...

    def snapshot_read(self) -> None: ...

    def reads_fail(self, partition_id: int) -> bool:
        return False

    def loading_ms(self, was_in_memory: bool) -> int:
        return 0 if was_in_memory or self.world.random.random() < 0.9 else 5

    def loaded(self, partition_id: int) -> None: ...

    def persisted(self, changes: list[Change]) -> None: ...

    def failed(self, under_way: list[Change], behind: list[Change]) -> None:
        self.world.fenced += 1

    def died_in_commit(self, persisted: bool) -> None: ...


class Caller:
    """A client with one request in flight, which follows the newest leader that it knows."""

    def __init__(self, world: TwoBrokers) -> None:
        self.world = world
        self.lines: dict[int, FakeClient] = {
            node_id: broker.listener.client() for node_id, broker in world.brokers.items()
        }
        self.leader = Leader(1, 0)
        self._pending: FakeClient | None = None
        self._locates = False

    def step(self) -> None:
        if self._pending is None:
            self._send()
            return
        for response in self._pending.responses():
            self._pending = None
            if self.world.random.random() < 0.1:
                self._locates = True  # as if the response was lost with its connection
            elif self._locates:
                self._located(response)
            else:
                self._locates = self.received(response) in TRY_AGAIN

    def _send(self) -> None:
        node_id = self.world.random.choice((1, 2)) if self._locates else self.leader.node_id
        self._pending = self.lines[node_id]
        if self._locates:
            self._pending.send(MetadataRequest(topics=None), 12)
        else:
            self._pending.send(self.request(), 12)

    def _located(self, response: Any) -> None:
        [[partition]] = [topic.partitions for topic in response.topics]
        self._locates = False
        if partition.leader_epoch >= self.leader.epoch:
            self.leader = Leader(partition.leader_id, partition.leader_epoch)

    def request(self) -> Request:
        raise NotImplementedError

    def received(self, response: Any) -> int:
        """Returns the error code."""
        raise NotImplementedError


class Producer(Caller):
    """Idempotent: a repeated batch is stored once."""

    def __init__(self, world: TwoBrokers) -> None:
        super().__init__(world)
        self.acknowledged = 0

    def request(self) -> Request:
        number = self.acknowledged
        batch = record_batch([str(number)], producer_id=PRODUCER_ID, epoch=0, sequence=number)
        data = PartitionProduceData(index=0, records=memoryview(batch))
        return ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[data])]
        )

    def received(self, response: Any) -> int:
        [[partition]] = [topic.partition_responses for topic in response.responses]
        if not partition.error_code:
            if partition.base_offset != self.acknowledged:
                raise Violation(f"{self.acknowledged} has offset {partition.base_offset}")
            self.acknowledged += 1
        elif partition.error_code not in TRY_AGAIN:
            raise Violation(f"{self.acknowledged} is refused: {partition.error_code}")
        return int(partition.error_code)


class Consumer(Caller):
    def __init__(self, world: TwoBrokers) -> None:
        super().__init__(world)
        self.read = 0

    def request(self) -> Request:
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=self.leader.epoch,
            fetch_offset=self.read,
            partition_max_bytes=1,
        )
        topics = [FetchTopic(topic="t", partitions=[partition])]
        return FetchRequest(max_wait_ms=20, min_bytes=1, max_bytes=1, topics=topics)

    def received(self, response: Any) -> int:
        [[partition]] = [topic.partitions for topic in response.responses]
        if partition.error_code not in {0} | TRY_AGAIN:
            raise Violation(f"reading {self.read} is refused: {partition.error_code}")
        if partition.records:
            expected = bytes(record_batch([str(self.read)], base_offset=self.read))
            if bytes(partition.records)[61:] != expected[61:]:
                raise Violation(f"at offset {self.read} there is something else")
            self.read += 1
        return int(partition.error_code)


class TwoBrokers:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.disk = Disk()
        self.truth: dict[int, Leader] = {}
        self.fenced = self.moves = self.open = 0
        self.seed = seed
        self.step = 0
        #: What happened.
        self.log_lines: list[str] = []
        first = BrokerOfTwo(self, 1)
        topic = first.topic("t")
        self.partition_id = topic.partition_ids[0]
        self.truth[self.partition_id] = Leader(1, 0)
        self.brokers = {1: first, 2: BrokerOfTwo(self, 2)}
        self.brokers[2].placement.move(self.partition_id, Leader(1, 0))
        #: Leaders that a broker has not learned yet.
        self._news: dict[int, list[Leader]] = {1: [], 2: []}
        self.producer = Producer(self)
        self.consumer = Consumer(self)

    def run(self) -> None:
        for step in range(PATIENCE_STEPS):
            self.step = step
            if self.producer.acknowledged >= RECORDS and self.consumer.read >= RECORDS:
                break
            self._step()
        else:
            raise Violation(f"{self.producer.acknowledged} and {self.consumer.read} records only")
        # One more may be stored: its response was lost, or is in flight.
        unacknowledged = len(self.disk.logs[self.partition_id].batches) - self.producer.acknowledged
        if unacknowledged not in (0, 1):
            raise Violation(f"{unacknowledged} batches too many")

    @property
    def happened(self) -> Counter[str]:
        return Counter(
            {
                "moves": self.moves,
                "commits that fail": self.fenced,
                "commits whose outcome is known late": self.open,
            }
        )

    def _step(self) -> None:
        chance = self.random.random()
        node_id = self.random.choice((1, 2))
        broker = self.brokers[node_id]
        if chance < 0.02:
            self._move()
        elif chance < 0.08 and self._news[node_id]:
            self.log_lines.append(f"{self.step:5} {node_id} learns {self._news[node_id][0]}")
            broker.placement.move(self.partition_id, self._news[node_id].pop(0))
        elif chance < 0.4:
            broker.scheduler.run_pass()
        elif chance < 0.6:
            broker.scheduler.advance(self.random.choice((1, 5)))
        else:
            self.random.choice((self.producer, self.consumer)).step()

    def _move(self) -> None:
        before = self.truth[self.partition_id]
        after = Leader(3 - before.node_id, before.epoch + 1)
        self.truth[self.partition_id] = after
        self.moves += 1
        self.log_lines.append(f"{self.step:5} {after}, after {before}")
        self._news[before.node_id].clear()
        self.brokers[before.node_id].placement.move(self.partition_id, after)
        self._news[after.node_id].append(after)
