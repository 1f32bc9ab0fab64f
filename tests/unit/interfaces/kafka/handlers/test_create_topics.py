from __future__ import annotations

import pytest

from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes, create, new


@pytest.mark.parametrize("version", [2, 4, 5, 6, 7])
def test_a_topic_is_created_and_described(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    """With its configs from version 5 on, with its id from version 7 on."""
    (created,) = create(client, new("t", -1, -1, retention_ms="77"), version=version)
    assert (created.name, created.error_code, created.error_message) == ("t", 0, None)
    assert created.topic_id == (kafka.existing().topic_id if version >= 7 else bytes(16))
    if version < 5:
        return
    assert (created.num_partitions, created.replication_factor) == (4, 1)
    configs = {one.name: (one.value, one.config_source) for one in created.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    assert configs["retention.ms"] == ("77", 1)
    assert configs["cleanup.policy"] == ("delete", 5)


def test_with_validate_only_no_topic_is_created(kafka: FakeKafka, client: FakeClient) -> None:
    created, refused = create(client, new("t", 3), new("a b"), only=True)
    assert (created.error_code, created.num_partitions) == (0, 3)
    assert created.topic_id != bytes(16)
    assert refused.error_code == 17
    assert len(kafka.broker.catalog) == 0


def test_each_refusal_has_its_code(kafka: FakeKafka, client: FakeClient) -> None:
    create(client, new("existing"), new("a.b"))
    refused = [
        (new("a/b"), 17),
        (new("existing"), 36),
        (new("a_b"), 17),
        (new("p", 0), 37),
        (new("r", 1, 2), 38),
        (new("assigned", 2, -1, {0: [1]}), 42),
        (new("gap", -1, -1, {1: [1]}), 39),
        (new("config", unknown="1"), 40),
        (new("value", retention_ms="soon"), 40),
        (new("__cluster_metadata"), 42),
    ]
    results = create(client, *(topic for topic, _ in refused))
    assert [one.error_code for one in results] == [code for _, code in refused]
    assert all(one.error_message for one in results)
    assert codes(create(client, new("x", 10_000), new("y", 1))) == [("x", 44), ("y", 44)]
    twice = create(client, new("t", 1), new("u", 1), new("t", 2))
    assert sorted(codes(twice)) == [("t", 42), ("u", 0)]
    assert kafka.broker.catalog.names() == ["a.b", "existing", "u"]


def test_only_one_of_two_clients_creates_a_topic(kafka: FakeKafka) -> None:
    first, second = kafka.client(), kafka.client()
    for client in (first, second):
        client.send(CreateTopicsRequest(topics=[new("t", 2)]), 7)
    kafka.run()
    assert [one.answers()[0].topics[0].error_code for one in (first, second)] == [0, 36]


def test_a_failed_commit_is_code_56(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next("no space left")
    results = create(client, new("t"), new("a b"))
    assert sorted(codes(results)) == [("a b", 17), ("t", 56)]
    assert codes(create(client, new("t"))) == [("t", 0)]
