from __future__ import annotations

from application.metrics.transactions import TransactionReadings
from tests.fakes.broker import with_topic
from tests.fakes.transactional_producer import TransactionalProducer
from tests.unit.application.metrics.figures import by_labels


def test_transactional_ids_are_counted_by_state() -> None:
    fake = with_topic(1)
    fake.broker.start_upkeep()
    open_one, slow = TransactionalProducer(fake, "open"), TransactionalProducer(fake, "slow", 1000)
    for producer in (open_one, slow):
        producer.init()
        producer.sent()
    TransactionalProducer(fake, "empty").init()
    fake.scheduler.advance(15_000)
    figures = by_labels(TransactionReadings(fake.broker.transactions).read())
    for state in ("Empty", "Ongoing", "CompleteAbort"):
        assert figures["ottla_transactions", state] == 1
    assert figures["ottla_transactions_timed_out_total",] == 1
    assert figures["kafka_server_replicamanager_partitionswithlatetransactionscount",] == 0
