"""A transaction as a client sends it; the oracle has the responses to other requests."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.kafka.requests.error_codes import NAMES
from interfaces.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest
from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.results import error_codes


class Producer:
    def __init__(self, kafka: FakeKafka, client: FakeClient) -> None:
        self.kafka, self.client = kafka, client
        self.sequence = 0
        given = client.request(
            InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=1000), 4
        )
        self.producer_id, self.epoch = given.producer_id, given.producer_epoch

    def add(self) -> set[int]:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx",
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])],
        )
        return error_codes(self.client.request(request, 3))

    def send(self, version: int) -> set[int]:
        batch = record_batch(
            ["x"],
            transactional=True,
            producer_id=self.producer_id,
            epoch=self.epoch,
            sequence=self.sequence,
        )
        data = PartitionProduceData(index=0, records=memoryview(batch))
        topic = TopicProduceData(
            name="t", topic_id=self.kafka.existing().topic_id, partition_data=[data]
        )
        request = ProduceRequest(acks=-1, transactional_id="tx", topic_data=[topic])
        codes = error_codes(self.client.request(request, version))
        self.sequence += codes == {0}
        return codes

    def end(self, version: int) -> Any:
        request = EndTxnRequest(
            transactional_id="tx",
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=True,
        )
        ended = self.client.request(request, version)
        assert ended.error_code == 0, NAMES[ended.error_code]
        return ended


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    return kafka


def test_repeated_produce_requests_of_a_transaction_are_admitted_each(
    kafka: FakeKafka, client: FakeClient
) -> None:
    producer = Producer(kafka, client)
    assert producer.send(9) == {48}
    assert producer.add() == {0}
    assert [producer.send(9) for _ in range(3)] == [{0}] * 3
    producer.end(3)
    assert producer.send(9) == {48}, "the next transaction needs the partition again"
    assert producer.add() == {0}
    assert producer.send(9) == {0}
    assert kafka.partition().last_stable_offset == 4


def test_a_request_adds_all_its_partitions_at_once(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.topic("wide", 3)
    producer = Producer(kafka, client)
    batch = record_batch(
        ["x"], transactional=True, producer_id=producer.producer_id, epoch=0, sequence=0
    )
    data = [PartitionProduceData(index=index, records=memoryview(batch)) for index in range(5)]
    topic = TopicProduceData(name="wide", partition_data=data)
    request = ProduceRequest(acks=-1, transactional_id="tx", topic_data=[topic])
    [response] = client.request(request, 12).responses
    assert [one.error_code for one in response.partition_responses] == [0, 0, 0, 3, 3]
    found = kafka.broker.transactions.registry.find("tx")
    assert found is not None
    assert found.partitions == {("wide", index) for index in range(3)}


def test_the_epoch_of_version_2_rises_and_batches_add_their_partition(
    kafka: FakeKafka, client: FakeClient
) -> None:
    producer = Producer(kafka, client)
    for transaction in range(3):
        assert [producer.send(13) for _ in range(2)] == [{0}] * 2
        before = producer.epoch
        ended = producer.end(5)
        assert (ended.producer_id, ended.producer_epoch) == (producer.producer_id, before + 1)
        assert producer.send(13) == {47}, "a batch that comes after the end"
        producer.epoch, producer.sequence = ended.producer_epoch, 0
        assert kafka.partition().last_stable_offset == 3 * (transaction + 1)
