"""Each durable change of topics and configs is a line of the log with the client."""

from __future__ import annotations

import pytest

from application.ports.event_log import TOPICS_LOGGED_EACH
from application.ports.request_log import REMEMBERED_CHARACTERS, Requester
from domain.security.principal import ANONYMOUS
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
    client.request(
        request_for("create_partitions", topics=[{"name": "t", "count": 3, "assignments": None}]),
        3,
    )
    assert lines(kafka) == [("partitions_created", {"topic": "t", "partitions": 3, **by})]
    client.request(changed((TOPIC, "t", [("max.message.bytes", SET, "2000")])), 1)
    configs = {"resource": "topic", "name": "t", "configs": ["max.message.bytes"]}
    assert lines(kafka) == [("configs_altered", {**configs, **by})]
    kafka.appended(record_batch(["a", "b"]))
    partition = {"partition_index": 0, "offset": 1}
    client.request(
        request_for("delete_records", topics=[{"name": "t", "partitions": [partition]}]), 2
    )
    assert lines(kafka) == [("records_deleted", {"topic": "t", "partitions": 1, **by})]
    client.request(request_for("delete_topics", topics=[{"name": "t"}]), 6)
    assert lines(kafka) == [("topic_deleted", {"topic": "t", "partitions": 3, **by})]
    client.request(metadata("new"), 12)
    assert lines(kafka) == [
        ("topic_created", {"topic": "new", "partitions": 1, "automatic": True, **by})
    ]


def changed_topics(names: list[str], kafka: FakeKafka) -> list[list[Line]]:
    """The lines of requests that create, extend, truncate and delete all topics."""
    client = kafka.client()
    create(client, *(new(name) for name in names[1:]))
    found = [lines(kafka)]
    client.request(metadata(*names), 12)
    found.append(lines(kafka))
    more = [{"name": name, "count": 2, "assignments": None} for name in names]
    client.request(request_for("create_partitions", topics=more), 3)
    found.append(lines(kafka))
    for name in names:
        kafka.append(record_batch(["a"]), name)
    kafka.run()
    partition = {"partition_index": 0, "offset": 1}
    topics = [{"name": name, "partitions": [partition]} for name in names]
    client.request(request_for("delete_records", topics=topics), 2)
    found.append(lines(kafka))
    client.request(request_for("delete_topics", topics=[{"name": name} for name in names]), 6)
    return [*found, lines(kafka)]


@pytest.mark.parametrize(
    "count, each", [(TOPICS_LOGGED_EACH, True), (TOPICS_LOGGED_EACH + 2, False)]
)
def test_a_request_for_more_than_a_hundred_topics_has_one_line(count: int, each: bool) -> None:
    names = [f"t-{n}" for n in range(count)]
    created, automatic, extended, truncated, deleted = changed_topics(names, FakeKafka())
    assert [fields["topic"] for _, fields in automatic] == names[:1]
    requests = [
        (created, names[1:], 1),
        (extended, names, 2),
        (truncated, names, 1),
        (deleted, names, 2),
    ]
    for found, topics, partitions in requests:
        if each:
            assert [fields["topic"] for _, fields in found] == topics
            assert {fields["partitions"] for _, fields in found} == {partitions}
        else:
            [(_, fields)] = found
            assert ("topic" in fields, fields["topics"]) == (False, len(topics))
            assert fields["partitions"] == partitions * len(topics)


def test_a_long_client_id_is_logged_in_part() -> None:
    fields = Requester(ANONYMOUS, "x" * 32_000, "peer").fields()
    assert fields["client_id"] == "x" * REMEMBERED_CHARACTERS
    assert Requester(ANONYMOUS, None, "peer").fields()["client_id"] is None


def test_a_refused_failed_or_only_validated_change_has_no_line() -> None:
    kafka = FakeKafka()
    client = kafka.client()
    create(client, new("t"), only=True)
    create(client, new("t", partitions=-7))
    kafka.commit.fail_next()
    create(client, new("t"))
    assert {event for event, _ in lines(kafka)} == {"storage_failed"}
    create(client, new("t"))
    lines(kafka)
    more = [{"name": "t", "count": 3, "assignments": None}]
    client.request(request_for("create_partitions", topics=more, validate_only=True), 3)
    assert lines(kafka) == []
