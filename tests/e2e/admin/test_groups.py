"""Groups of a real client, as REST shows them and sets them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.e2e.admin.conftest import AdminClient


@pytest.fixture
def topic(admin: AdminClient) -> Iterator[str]:
    """Ten records in its one partition."""
    assert admin.post("/topics", {"name": "read", "partitions": 1}).status == 201
    producer = Producer({"bootstrap.servers": admin.broker.bootstrap})
    for number in range(10):
        producer.produce("read", value=str(number))
    assert producer.flush(20) == 0
    yield "read"
    assert admin.ask("DELETE", "/topics/read").status == 204


def consumer(admin: AdminClient, protocol: str) -> Consumer:
    facts = {
        "bootstrap.servers": admin.broker.bootstrap,
        "group.id": f"readers-{protocol}",
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "client.id": "a-reader",
    }
    made = Consumer(facts)
    made.subscribe(["read"])
    return made


def next_value(reader: Consumer) -> int:
    message = reader.poll(20)
    assert message is not None
    assert message.error() is None, message.error()
    value = message.value()
    assert value is not None
    return int(value)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_is_shown_and_its_offsets_reset(
    admin: AdminClient, topic: str, protocol: str
) -> None:
    group = f"/groups/readers-{protocol}"
    reader = consumer(admin, protocol)
    assert [next_value(reader) for _ in range(4)] == [0, 1, 2, 3]
    reader.commit(offsets=[TopicPartition(topic, 0, 4)], asynchronous=False)

    found = admin.get(group).json
    assert (found["state"], found["type"]) == ("STABLE", protocol)
    [lag] = admin.get(f"{group}/lags").json["data"]
    assert (lag["current_offset"], lag["log_end_offset"], lag["lag"]) == (4, 10, 6)
    assert lag["client_id"] == "a-reader"
    [member] = admin.get(f"{group}/consumers").json["data"]
    assert member["consumer_id"] == lag["consumer_id"]
    refused = admin.post(f"{group}/offsets", {"to": "earliest"})
    assert refused.json["error_code"] == 40903
    reader.close()

    assert admin.get(group).json["state"] == "EMPTY"
    [reset] = admin.post(f"{group}/offsets", {"to": "shift_by", "shift_by": -3}).json["data"]
    assert (reset["before"], reset["after"]) == (4, 1)
    again = consumer(admin, protocol)
    assert next_value(again) == 1
    again.close()
    assert admin.ask("DELETE", group).status == 204
