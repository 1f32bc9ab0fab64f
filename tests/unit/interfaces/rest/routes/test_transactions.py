from __future__ import annotations

import pytest

from domain.cluster.nodes import Node
from domain.errors import InvalidProducerEpoch, ProducerFenced
from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.transactional_producer import TransactionalProducer


@pytest.fixture
def producer(admin: FakeAdmin) -> TransactionalProducer:
    """With one record in an open transaction."""
    admin.fake.topic("t")
    producer = TransactionalProducer(admin.fake, "a/b")
    producer.init()
    producer.sent()
    return producer


def test_an_open_transaction_has_the_partitions_that_it_holds_back(
    admin: FakeAdmin, producer: TransactionalProducer
) -> None:
    admin.fake.clock.advance(5000)
    [one] = admin.get("/transactions").json["data"]
    assert one == admin.get("/transactions/a%2Fb").json
    assert one == admin.get(f"{admin.v3}/transactions/a%2Fb").json
    names = ("transactional_id", "producer_id", "producer_epoch", "state", "open_for_ms")
    assert facts(one, *names) == ("a/b", *producer.producer, "ONGOING", 5000)
    assert one["partitions"] == [
        {
            "topic_name": "t",
            "partition_id": 0,
            "first_offset": 0,
            "last_stable_offset": 0,
            "high_watermark": 1,
        }
    ]
    producer.ended()
    one = admin.get("/transactions/a%2Fb").json
    assert facts(one, "state", "open_for_ms", "partitions") == ("COMPLETE_COMMIT", None, [])


def test_a_transaction_may_have_a_partition_that_was_deleted(admin: FakeAdmin) -> None:
    admin.fake.topic("t", 6)
    producer = TransactionalProducer(admin.fake)
    producer.init()
    producer.sent(5)
    admin.request("DELETE", "/topics/t")
    admin.fake.topic("t", 1)
    response = admin.get("/transactions")
    assert response.status == 200
    [one] = response.json["data"]
    [partition] = one["partitions"]
    names = ("topic_name", "partition_id", "first_offset", "high_watermark")
    assert facts(partition, *names) == ("t", 5, None, None)


def test_a_transaction_is_aborted_and_its_producer_fenced(
    admin: FakeAdmin, producer: TransactionalProducer
) -> None:
    aborted = admin.post("/transactions/a%2Fb:abort")
    assert aborted.status == 200
    assert facts(aborted.json, "state", "open_for_ms") == ("EMPTY", None)
    assert isinstance(producer.send(), InvalidProducerEpoch)
    with pytest.raises(ProducerFenced):
        producer.end()
    assert admin.fake.partition().last_stable_offset == 2


def test_an_unknown_transactional_id_is_not_created(admin: FakeAdmin) -> None:
    for response in (admin.get("/transactions/x"), admin.post("/transactions/x:abort")):
        assert response.json["error_code"] == 40405
    assert admin.get("/transactions").json["data"] == []


def test_a_transaction_of_another_broker_is_refused(
    admin: FakeAdmin, producer: TransactionalProducer
) -> None:
    admin.fake.placement.add(Node(2))  # without the topic __transaction_state nobody coordinates
    assert admin.get("/transactions").json["data"] == []
    for response in (admin.get("/transactions/x"), admin.post("/transactions/x:abort")):
        assert response.json["error_code"] == 50302
