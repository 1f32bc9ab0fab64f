"""Transactions over partitions of several brokers, by REST of their coordinator."""

from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin, facts
from tests.fakes.cluster_producer import ClusterProducer, begun_on_two_brokers


@pytest.fixture
def producer() -> ClusterProducer:
    return begun_on_two_brokers()


@pytest.fixture
def admin(producer: ClusterProducer, monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    """Of the coordinator; the other broker runs, too, until the response is there."""
    monkeypatch.setattr(producer.coordinator, "run", producer.shared.run)
    return FakeAdmin(producer.coordinator)


def test_an_abort_waits_for_the_markers_of_other_brokers(
    admin: FakeAdmin, producer: ClusterProducer
) -> None:
    aborted = admin.post("/transactions/tx:abort")
    assert aborted.status == 200
    assert facts(aborted.json, "state", "partitions") == ("EMPTY", [])
    raised = aborted.json["producer_epoch"] - producer.producer.epoch
    assert raised == 2, "by the abort and by the next producer, as in Kafka"
    for index in range(2):
        partition = producer.leader(index).partition(index=index)
        assert partition.last_stable_offset == partition.high_watermark == 2


def test_records_in_a_transaction_wait_for_the_end_of_the_one_before(
    admin: FakeAdmin, producer: ClusterProducer
) -> None:
    [here] = producer.shared.led("t", by=1)
    body = {
        "transaction": {"transactional_id": "tx"},
        "entries": [{"id": "1", "value": "x", "partition_id": here}],
    }
    sent = admin.post("/topics/t/records:batch", body)
    assert sent.status == 207, sent
    assert [one["offset"] for one in sent.json["successes"]] == [2]
    assert admin.get("/transactions/tx").json["state"] == "COMPLETE_COMMIT"
