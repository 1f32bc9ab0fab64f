from __future__ import annotations

from typing import Any

import pytest

from application.groups import transactional_offsets
from domain.errors import BrokerError, FencedInstanceId, IllegalGeneration
from domain.transactions.transaction import ProducerIdAndEpoch
from interfaces.kafka.wire.messages.end_txn import EndTxnRequest
from interfaces.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from interfaces.kafka.wire.messages.txn_offset_commit import TxnOffsetCommitRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup
from tests.fakes.offset_requests import at, offsets_of
from tests.fakes.structs import build

#: The group is added by the request.
VERSION = 5


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    return kafka


@pytest.fixture
def producer(client: FakeClient) -> ProducerIdAndEpoch:
    request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
    response: Any = client.request(request, 5)
    return ProducerIdAndEpoch(response.producer_id, response.producer_epoch)


def request(producer: ProducerIdAndEpoch, *indexes: int) -> TxnOffsetCommitRequest:
    topics = [{"name": "t", "partitions": [at(index) for index in indexes]}]
    fields = {"transactional_id": "tx", "group_id": "g", "topics": topics}
    return build(
        TxnOffsetCommitRequest,
        {**fields, "producer_id": producer.producer_id, "producer_epoch": producer.epoch},
    )


def codes(response: Any) -> list[tuple[int, int]]:
    (topic,) = response.topics
    return [(one.partition_index, one.error_code) for one in topic.partitions]


def end(client: FakeClient, producer: ProducerIdAndEpoch, committed: bool = True) -> None:
    response: Any = client.request(
        EndTxnRequest(
            transactional_id="tx",
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=committed,
        ),
        VERSION,
    )
    assert response.error_code == 0


def test_offsets_and_the_added_group_are_durable_before_the_response(
    kafka: FakeKafka, client: FakeClient, producer: ProducerIdAndEpoch
) -> None:
    kafka.commit.hold()
    client.send(request(producer, 0), VERSION)
    kafka.run()
    assert client.responses() == []
    kafka.commit.let_go()
    kafka.run()
    assert len(client.responses()) == 1
    assert offsets_of(client, "g") == {}
    end(client, producer)
    assert offsets_of(client, "g") == {"t": {0: 5}}


def test_a_failed_commit_is_a_retriable_error(
    kafka: FakeKafka, client: FakeClient, producer: ProducerIdAndEpoch
) -> None:
    kafka.commit.fail_next()
    assert codes(client.request(request(producer, 0, 8), VERSION)) == [(8, 3), (0, 15)]
    assert codes(client.request(request(producer, 0), VERSION)) == [(0, 0)]
    end(client, producer)
    assert offsets_of(client, "g") == {"t": {0: 5}}


@pytest.mark.parametrize(("refusal", "code"), [(FencedInstanceId(), 82), (IllegalGeneration(), 22)])
def test_an_error_of_the_group_is_the_error_of_each_known_partition(
    kafka: FakeKafka,
    client: FakeClient,
    producer: ProducerIdAndEpoch,
    refusal: BrokerError,
    code: int,
) -> None:
    group = FakeGroup("g")
    group.refusal = refusal
    kafka.broker.groups.registry.put(group)
    assert codes(client.request(request(producer, 0, 1), VERSION)) == [(0, code), (1, code)]


def test_too_many_offsets_that_are_not_stored_yet_are_refused(
    client: FakeClient, producer: ProducerIdAndEpoch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactional_offsets, "ENDING_MAX", 0)
    assert codes(client.request(request(producer, 0), VERSION)) == [(0, 15)]


def test_the_end_of_a_transaction_is_one_commit(
    kafka: FakeKafka, client: FakeClient, producer: ProducerIdAndEpoch
) -> None:
    client.request(request(producer, 0, 1, 2), VERSION)
    before = kafka.commit.count
    end(client, producer)
    assert kafka.commit.count == before + 1
    assert offsets_of(client, "g") == {"t": {0: 5, 1: 5, 2: 5}}
