"""What each of two brokers responds about partitions that the other one leads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.batches import record_batch
from tests.fakes.cluster_producer import ask
from tests.fakes.config_requests import BROKER, LOGGER, described
from tests.fakes.shared_store import SharedBroker, SharedStore
from tests.fakes.structs import request_for

NOT_LEADER, INVALID_REQUEST = 6, 42


@pytest.fixture
def shared() -> SharedStore:
    """Each of two brokers leads one of the partitions 0 and 1, which have one and two batches."""
    shared = SharedStore()
    for node_id in (1, 2):
        shared.start(node_id, default_replication_factor="2")
    shared.topic("t", 2)
    for index in (0, 1):
        for _ in range(index + 1):
            leader_of(shared, index).appended(record_batch(["x"]), "t", index)
    return shared


def leader_of(shared: SharedStore, index: int) -> SharedBroker:
    [leader] = [
        broker for node_id, broker in shared.brokers.items() if leads(shared, node_id, index)
    ]
    return leader


def leads(shared: SharedStore, node_id: int, index: int) -> bool:
    return index in shared.led("t", node_id)


def codes(expected: dict[bool, int], shared: SharedStore, node_id: int) -> list[int]:
    return [expected[leads(shared, node_id, index)] for index in (0, 1)]


@pytest.mark.parametrize("node_id", [1, 2])
def test_records_are_deleted_by_the_leader(shared: SharedStore, node_id: int) -> None:
    asked = [{"partition_index": index, "offset": 1} for index in (0, 1)]
    request = request_for("delete_records", topics=[{"name": "t", "partitions": asked}])
    [topic] = ask(shared.brokers[node_id], request, 2).topics
    found = [one.error_code for one in topic.partitions]
    assert found == codes({True: 0, False: NOT_LEADER}, shared, node_id)
    marks = [one.low_watermark for one in topic.partitions]
    assert marks == codes({True: 1, False: -1}, shared, node_id)


@pytest.mark.parametrize("node_id", [1, 2])
def test_producers_are_described_by_the_leader(shared: SharedStore, node_id: int) -> None:
    topics = [{"name": "t", "partition_indexes": [0, 1]}]
    request = request_for("describe_producers", topics=topics)
    [topic] = ask(shared.brokers[node_id], request, 0).topics
    found = [one.error_code for one in topic.partitions]
    assert found == codes({True: 0, False: NOT_LEADER}, shared, node_id)


@pytest.mark.parametrize("topics", [None, [{"topic": "t", "partitions": [0, 1]}]])
def test_the_log_dir_of_a_broker_has_what_it_leads(
    shared: SharedStore, topics: list[dict[str, Any]] | None
) -> None:
    """Of all partitions, and of those that are asked for."""
    size = len(record_batch(["x"]))
    seen = {}
    for broker in shared.brokers.values():
        [log_dir] = ask(broker, request_for("describe_log_dirs", topics=topics), 4).results
        [topic] = [one for one in log_dir.topics if one.name == "t"]
        [one] = topic.partitions
        assert broker is leader_of(shared, one.partition_index)
        seen[one.partition_index] = one.partition_size
    assert seen == {0: size, 1: 2 * size}


@pytest.mark.parametrize("kind, expected", [(BROKER, "1 or empty string, but"), (LOGGER, "1 but")])
def test_configs_of_a_broker_are_described_by_itself(
    shared: SharedStore, kind: int, expected: str
) -> None:
    """As in Kafka: clients ask the broker that they name."""
    [own, other] = ask(shared.brokers[1], described((kind, "1"), (kind, "2")), 4).results
    assert (own.error_code, other.error_code) == (0, INVALID_REQUEST)
    assert other.error_message == f"Unexpected broker id, expected {expected} received 2"
    assert other.configs == []
