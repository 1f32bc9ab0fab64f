"""Each durable change of topics and configs is a line of the log with the client."""

from __future__ import annotations

from tests.fakes.batches import record_batch
from tests.fakes.client import FakeKafka
from tests.fakes.config_requests import SET, TOPIC, changed
from tests.fakes.requests import metadata
from tests.fakes.structs import request_for
from tests.fakes.topic_requests import create, new

Line = tuple[str, dict[str, object]]


def lines(kafka: FakeKafka) -> list[Line]:
    found = [(event, fields) for _, event, fields in kafka.events.lines]
    kafka.events.lines.clear()
    return found


def test_each_change_names_the_client() -> None:
    kafka = FakeKafka()
    client = kafka.client()
    by = {
        "principal": "User:ANONYMOUS",
        "client_id": "a-client",
        "peer": client.session.client.peer,
    }
    create(client, new("t"))
    assert lines(kafka) == [
        ("topic_created", {"topic": "t", "partitions": 1, "automatic": False, **by})
    ]
    client.ask(
        request_for("create_partitions", topics=[{"name": "t", "count": 3, "assignments": None}]),
        3,
    )
    assert lines(kafka) == [("partitions_created", {"topic": "t", "partitions": 3, **by})]
    client.ask(changed((TOPIC, "t", [("max.message.bytes", SET, "2000")])), 1)
    configs = {"resource": "topic", "name": "t", "configs": ["max.message.bytes"]}
    assert lines(kafka) == [("configs_altered", {**configs, **by})]
    kafka.appended(record_batch(["a", "b"]))
    partition = {"partition_index": 0, "offset": 1}
    client.ask(request_for("delete_records", topics=[{"name": "t", "partitions": [partition]}]), 2)
    assert lines(kafka) == [("records_deleted", {"topic": "t", "partitions": 1, **by})]
    client.ask(request_for("delete_topics", topics=[{"name": "t"}]), 6)
    assert lines(kafka) == [("topic_deleted", {"topic": "t", **by})]
    client.ask(metadata("new"), 12)
    assert lines(kafka) == [
        ("topic_created", {"topic": "new", "partitions": 1, "automatic": True, **by})
    ]


def test_a_refused_failed_or_only_validated_change_has_no_line() -> None:
    kafka = FakeKafka()
    client = kafka.client()
    create(client, new("t"), only=True)
    create(client, new("t", partitions=-7))
    kafka.commit.fail_next()
    create(client, new("t"))
    assert {event for event, _ in lines(kafka)} == {"storage_failed"}
