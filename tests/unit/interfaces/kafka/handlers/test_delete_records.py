from __future__ import annotations

import pytest

from tests.fakes.batches import record_batch
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.requests import fetch
from tests.fakes.structs import request_for


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t")
    kafka.appended(record_batch(["a", "b", "c", "d", "e"]))
    return kafka


def test_a_waiting_fetch_returns_when_the_log_start_moves(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(fetch(60_000, 5), 11)
    kafka.run()
    assert client.responses() == []
    partition = {"partition_index": 0, "offset": -1}
    topics = [{"name": "t", "partitions": [partition]}]
    kafka.client().request(request_for("delete_records", topics=topics), 2)
    [response] = client.responses()
    [one] = response.responses[0].partitions
    assert (one.error_code, one.log_start_offset, one.records) == (0, 5, b"")
