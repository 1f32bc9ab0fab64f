"""Requests that change what all brokers share wait for the right, before they have any effect."""

from __future__ import annotations

from typing import Any

import pytest

from domain.configs.settings.access import STANDARD_AUTHORIZER
from domain.security.quota import CONTROLLER_MUTATION_RATE, QuotaEntity
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.requests import kinds, metadata
from tests.fakes.structs import Fields, request_for

_CONFIG: Fields = {"name": "retention.ms", "value": "1000"}
_ACL: Fields = {
    "resource_type": 2,
    "resource_name": "t",
    "principal": "User:ann",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}
_ANY_ACL: Fields = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
_QUOTA: Fields = {
    "entity": [{"entity_type": "user", "entity_name": "ann"}],
    "ops": [{"key": "producer_byte_rate", "value": 1000.0}],
}
_USER: Fields = {
    "name": "ann",
    "mechanism": 1,
    "iterations": 4096,
    "salt": b"salt",
    "salted_password": b"p" * 32,
}
#: With the version, and the field that has the results.
CHANGES: list[tuple[str, int, str, Fields]] = [
    ("create_topics", 7, "topics", {"topics": [{"name": "u", "num_partitions": 1}]}),
    ("delete_topics", 6, "responses", {"topics": [{"name": "t"}]}),
    ("create_partitions", 3, "results", {"topics": [{"name": "t", "count": 2}]}),
    ("metadata", 12, "topics", {"topics": [{"name": "u"}]}),
    (
        "alter_configs",
        2,
        "responses",
        {"resources": [{"resource_type": 2, "resource_name": "t", "configs": [_CONFIG]}]},
    ),
    (
        "incremental_alter_configs",
        1,
        "responses",
        {"resources": [{"resource_type": 2, "resource_name": "t", "configs": [_CONFIG]}]},
    ),
    ("create_acls", 3, "results", {"creations": [_ACL]}),
    (
        "delete_acls",
        3,
        "filter_results",
        {"filters": [_ANY_ACL]},
    ),
    ("alter_client_quotas", 1, "entries", {"entries": [_QUOTA]}),
    ("alter_user_scram_credentials", 0, "results", {"upsertions": [_USER]}),
    (
        "update_features",
        1,
        "results",
        {
            "feature_updates": [
                {"feature": "transaction.version", "max_version_level": 1, "upgrade_type": 2}
            ]
        },
    ),
    ("init_producer_id", 5, "", {"transactional_id": None}),
    ("init_producer_id", 5, "", {"transactional_id": "tx", "transaction_timeout_ms": 1000}),
]
LOGGED = ("topic_created", "topic_deleted", "partitions_created", "configs_altered")


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka(
        authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:ANONYMOUS", num_partitions="1"
    )
    kafka.topic("t")
    return kafka


def rows(kafka: FakeKafka) -> dict[str, dict[bytes, bytes]]:
    return {table: dict(found) for table, found in kafka.store.tables.items()}


def complete(fields: Fields, api: str) -> Fields:
    """With what has no default."""
    if api == "create_topics":
        topics = [{**one, "replication_factor": 1} for one in fields["topics"]]
        return {"topics": topics}
    if api == "create_partitions":
        return {"topics": [{**one, "assignments": None} for one in fields["topics"]]}
    return fields


@pytest.mark.parametrize(
    ("api", "version", "results", "fields"), CHANGES, ids=[one[0] for one in CHANGES]
)
def test_a_change_waits_and_those_behind_it(
    kafka: FakeKafka, client: FakeClient, api: str, version: int, results: str, fields: Fields
) -> None:
    if api == "delete_acls":
        client.request(request_for("create_acls", creations=[_ACL]), 3)
    before, lines = rows(kafka), [len(kafka.events.of(one)) for one in LOGGED]
    kafka.changes.withhold()
    client.send(request_for(api, **complete(fields, api)), version)
    client.send(metadata(), 12)
    kafka.run()
    assert (client.responses(), kafka.store.staged, rows(kafka)) == ([], [], before)
    assert [len(kafka.events.of(one)) for one in LOGGED] == lines
    assert kafka.changes.waiting == 1
    kafka.changes.give(callers=1)
    kafka.run()
    responses: list[Any] = client.responses()
    assert len(responses) == 2 and kinds(responses)[1] == "Metadata"
    first = responses[0]
    for each in getattr(first, results) if results else [first]:
        assert each.error_code == 0, each
    assert rows(kafka) != before
    assert kafka.changes.waiting == 0


@pytest.mark.parametrize(
    ("api", "version", "fields"),
    [
        ("create_topics", 7, CHANGES[0][3]),
        ("create_partitions", 3, CHANGES[2][3]),
        ("alter_configs", 2, CHANGES[4][3]),
        ("alter_client_quotas", 1, CHANGES[8][3]),
        ("update_features", 1, CHANGES[10][3]),
    ],
)
def test_a_validation_does_not_wait(
    kafka: FakeKafka, client: FakeClient, api: str, version: int, fields: Fields
) -> None:
    kafka.changes.withhold()
    client.request(request_for(api, **complete(fields, api), validate_only=True), version)
    assert kafka.changes.waiting == 0


def test_other_connections_do_not_wait(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.changes.withhold()
    client.send(request_for("metadata", topics=[{"name": "new"}]), 12)
    kafka.run()
    assert len(kafka.client().request(metadata("t"), 12).topics) == 1
    assert client.responses() == []


def test_a_connection_that_ends_while_it_waits_changes_nothing(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.changes.withhold()
    client.send(request_for("metadata", topics=[{"name": "new"}]), 12)
    kafka.run()
    client.transport.drop()
    kafka.changes.give()
    kafka.run()
    assert kafka.broker.catalog.topic("new") is None


def test_partitions_count_once_for_the_quota(kafka: FakeKafka, client: FakeClient) -> None:
    everybody = QuotaEntity(user="", client_id=None, ip=None)
    kafka.broker.quotas.put(everybody, {CONTROLLER_MUTATION_RATE: 1.0})
    kafka.changes.withhold()
    client.send(request_for("create_topics", **complete(CHANGES[0][3], "create_topics")), 7)
    kafka.run()
    [(_, tokens, _)] = kafka.broker.quotas.sensors()
    kafka.changes.give()
    kafka.run()
    [created] = client.responses()
    assert created.topics[0].error_code == 0
    [(_, left, _)] = kafka.broker.quotas.sensors()
    assert tokens - left == 1


def test_a_producer_that_stays_with_its_id_does_not_wait(
    kafka: FakeKafka, client: FakeClient
) -> None:
    fields: Fields = {"transactional_id": "tx", "transaction_timeout_ms": 1000}
    first = client.request(request_for("init_producer_id", **fields), 5)
    kafka.changes.withhold()
    again = client.request(request_for("init_producer_id", **fields), 5)
    assert (again.producer_id, again.producer_epoch) == (first.producer_id, 1)
