"""A transactional producer of brokers in this process, by requests of transaction version 1.

It finds leaders and coordinators as the brokers see them, and waits until all of them are idle.
"""

from __future__ import annotations

from typing import Any

from domain.transactions.transaction import NO_EPOCH, ProducerIdAndEpoch
from interfaces.kafka.wire.messages.add_partitions_to_txn import AddPartitionsToTxnTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.results import error_codes
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for

NO_PRODUCER = ProducerIdAndEpoch(-1, NO_EPOCH)


def ask(broker: SharedBroker, request: Request, version: int) -> Any:
    client = broker.client()
    client.send(request, version)
    broker.shared.run()
    [response] = client.responses()
    return response


class ClusterProducer:
    def __init__(self, shared: SharedStore, transactional_id: str = "tx") -> None:
        self.shared = shared
        self.transactional_id = transactional_id
        self.timeout_ms = 60_000
        self.producer = NO_PRODUCER
        self._sequences: dict[int, int] = {}

    # ---- where

    @property
    def coordinator(self) -> SharedBroker:
        [found] = [
            one
            for one in self.shared.brokers.values()
            if one.broker.transactions.coordinators.is_here(self.transactional_id)
        ]
        return found

    def leader(self, index: int) -> SharedBroker:
        first = next(iter(self.shared.brokers.values()))
        node_id, _ = first.leader(first.existing().partition_ids[index])
        return self.shared.brokers[node_id]

    @property
    def state(self) -> str:
        found = self.coordinator.broker.transactions.registry.find(self.transactional_id)
        assert found is not None
        return found.state.value

    # ---- requests, of which the error codes are returned

    @property
    def _fields(self) -> dict[str, Any]:
        producer = self.producer
        return {
            "transactional_id": self.transactional_id,
            "producer_id": producer.producer_id,
            "producer_epoch": producer.epoch,
        }

    def init_request(self) -> Request:
        return request_for(
            "init_producer_id",
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self.timeout_ms,
            producer_id=-1,
            producer_epoch=-1,
        )

    def init(self) -> int:
        response = ask(self.coordinator, self.init_request(), 4)
        if not response.error_code:
            self.producer = ProducerIdAndEpoch(response.producer_id, response.producer_epoch)
            self._sequences.clear()
        return int(response.error_code)

    def add(self, *indexes: int) -> set[int]:
        return error_codes(ask(self.coordinator, self.add_request(*indexes), 3))

    def add_request(self, *indexes: int) -> Request:
        explicit = {f"v3_and_below_{name}": value for name, value in self._fields.items()}
        topic = AddPartitionsToTxnTopic(name="t", partitions=list(indexes))
        return request_for("add_partitions_to_txn", **explicit, v3_and_below_topics=[topic])

    def produce_request(self, *indexes: int) -> ProduceRequest:
        partitions = []
        for index in indexes:
            batch = record_batch(
                ["x"],
                producer_id=self.producer.producer_id,
                epoch=self.producer.epoch,
                sequence=self._sequences.get(index, 0),
                transactional=True,
            )
            partitions.append(PartitionProduceData(index=index, records=memoryview(batch)))
        topic = TopicProduceData(name="t", partition_data=partitions)
        return ProduceRequest(acks=-1, transactional_id=self.transactional_id, topic_data=[topic])

    def sent(self, *indexes: int) -> None:
        for index in indexes:
            self._sequences[index] = self._sequences.get(index, 0) + 1

    def produce(self, *indexes: int, version: int = 9) -> set[int]:
        """Of partitions with one leader."""
        codes = error_codes(ask(self.leader(indexes[0]), self.produce_request(*indexes), version))
        if codes == {0}:
            self.sent(*indexes)
        return codes

    def commit_offset(self, broker: SharedBroker, group_id: str, offset: int) -> set[int]:
        """`broker`: that coordinates the group."""
        added = ask(
            self.coordinator,
            request_for("add_offsets_to_txn", **self._fields, group_id=group_id),
            3,
        )
        if added.error_code:
            return {added.error_code}
        partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
        topic = {"name": "t", "partitions": [partition]}
        request = request_for(
            "txn_offset_commit", **self._fields, group_id=group_id, topics=[topic]
        )
        return error_codes(ask(broker, request, 3))

    def end(self, committed: bool = True) -> int:
        request = request_for("end_txn", **self._fields, committed=committed)
        return int(ask(self.coordinator, request, 3).error_code)


def begun_on_two_brokers() -> ClusterProducer:
    """With a record in both partitions of `t`, which brokers 1 and 2 lead. Broker 1 coordinates."""
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(
            node_id,
            offsets_topic="on",
            offsets_topic_num_partitions="1",
            transaction_state_log_num_partitions="1",
            default_replication_factor="2",
        )
    shared.topic("t", 2)
    producer = ClusterProducer(shared)
    assert producer.init() == 0
    assert producer.add(0, 1) == {0}
    for index in range(2):
        assert producer.produce(index) == {0}
    assert producer.coordinator is shared.brokers[1]
    assert {producer.leader(index).config.node_id for index in range(2)} == {1, 2}
    return producer
