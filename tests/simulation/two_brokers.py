"""Two brokers over one store: the leadership of a partition moves between them, by a seed.

A broker knows when its own lease ends, and learns late of a new one. Its earlier commits may end
after that: the store refuses batches of an old epoch, as a shared store has to. Others may have
been persisted, and the broker learns it when another one leads. A producer and a consumer follow
metadata.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.cluster.nodes import Leader
from domain.messages.batch import HEADER_BYTES
from interfaces.kafka.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.simulation.disk import Append, Change
from tests.simulation.model import Violation
from tests.simulation.moving_leaders import BrokerOfTwo, Caller, MovingLeaders

RECORDS = 40
PRODUCER_ID = 4711

#: Errors after which a client refreshes metadata and retries.
STORAGE, NOT_LEADER, FENCED, UNKNOWN_EPOCH = 56, 6, 74, 75
TRY_AGAIN = {STORAGE, NOT_LEADER, FENCED, UNKNOWN_EPOCH}


class LeaderOfTwo(BrokerOfTwo):
    """The store refuses batches of epochs that have ended when a commit is done."""

    def fence(self, changes: list[Change]) -> Callable[[], bool]:
        return lambda: any(
            int.from_bytes(one.batch[12:16], "big") != self.world.truth[one.partition_id].epoch
            for one in changes
            if isinstance(one, Append)
        )


class PartitionClient(Caller):
    """Follows the newest leader that it knows."""

    goal = RECORDS
    leader = Leader(1, 0)
    _locates = False

    def _send(self) -> None:
        node_id = self.random.choice((1, 2)) if self._locates else self.leader.node_id
        self._pending = self.lines[node_id]
        if self._locates:
            self._pending.send(MetadataRequest(topics=None), 12)
        else:
            self._pending.send(self.request(), 12)

    def _receive(self, response: Any) -> None:
        if self.random.random() < 0.1:
            self._locates = True  # as if the response was lost with its connection
        elif self._locates:
            self._located(response)
        else:
            self._locates = self.received(response) in TRY_AGAIN

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


class Producer(PartitionClient):
    """Idempotent: a repeated batch is stored once."""

    def request(self) -> Request:
        number = self.done
        batch = record_batch([str(number)], producer_id=PRODUCER_ID, epoch=0, sequence=number)
        data = PartitionProduceData(index=0, records=memoryview(batch))
        return ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[data])]
        )

    def received(self, response: Any) -> int:
        [[partition]] = [topic.partition_responses for topic in response.responses]
        if not partition.error_code:
            if partition.base_offset != self.done:
                raise Violation(f"{self.done} has offset {partition.base_offset}")
            self.done += 1
        elif partition.error_code not in TRY_AGAIN:
            raise Violation(f"{self.done} is refused: {partition.error_code}")
        return int(partition.error_code)


class Consumer(PartitionClient):
    def request(self) -> Request:
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=self.leader.epoch,
            fetch_offset=self.done,
            partition_max_bytes=1,
        )
        topics = [FetchTopic(topic="t", partitions=[partition])]
        return FetchRequest(max_wait_ms=20, min_bytes=1, max_bytes=1, topics=topics)

    def received(self, response: Any) -> int:
        [[partition]] = [topic.partitions for topic in response.responses]
        if partition.error_code not in {0} | TRY_AGAIN:
            raise Violation(f"reading {self.done} is refused: {partition.error_code}")
        if partition.records:
            expected = bytes(record_batch([str(self.done)], base_offset=self.done))
            if bytes(partition.records)[HEADER_BYTES:] != expected[HEADER_BYTES:]:
                raise Violation(f"at offset {self.done} there is something else")
            self.done += 1
        return int(partition.error_code)


class TwoBrokers(MovingLeaders):
    moves_below, learns_below, time_below = 0.02, 0.08, 0.6
    times_ms = (1, 5)
    patience_steps = 20_000

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        first = LeaderOfTwo(self, 1)
        self.partition_ids = first.topic("t").partition_ids
        self.truth |= dict.fromkeys(self.partition_ids, Leader(1, 0))
        self.brokers = {1: first, 2: LeaderOfTwo(self, 2)}
        self.callers = Producer(self), Consumer(self)

    def run(self) -> None:
        super().run()
        # One more may be stored: its response was lost, or is in flight.
        stored = len(self.disk.logs[self.partition_ids[0]].batches)
        unacknowledged = stored - self.callers[0].done
        if unacknowledged not in (0, 1):
            raise Violation(f"{unacknowledged} batches too many")
