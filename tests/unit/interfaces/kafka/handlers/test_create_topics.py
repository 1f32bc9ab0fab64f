from __future__ import annotations

import pytest

from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.kafka.wire.messages.create_topics import CreateTopicsRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.topic_requests import codes, create, new


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_is_created_and_described(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    wanted = new("t", -1, -1, retention_ms="77")
    (created,) = create(client, wanted, version=version)
    assert (created.name, created.error_code, created.error_message) == ("t", 0, None)
    assert created.topic_id == (kafka.existing().topic_id if version >= 7 else bytes(16))
    if version < 5:
        return
    assert (created.num_partitions, created.replication_factor) == (4, 1)
    configs = {one.name: (one.value, one.config_source) for one in created.configs}
    assert configs.keys() == TOPIC_CONFIGS.keys()
    assert configs["retention.ms"] == ("77", 1)
    assert configs["cleanup.policy"] == ("delete", 5)


def test_what_is_only_validated_is_told_an_id_and_is_not_there(
    kafka: FakeKafka, client: FakeClient
) -> None:
    created, refused = create(client, new("t", 3), new("a b"), only=True)
    assert (created.error_code, created.num_partitions) == (0, 3)
    assert created.topic_id != bytes(16)
    assert refused.error_code == 17
    assert len(kafka.broker.catalog) == 0


def test_each_refusal_has_its_code(client: FakeClient) -> None:
    create(client, new("there"), new("a.b"))
    results = create(
        client,
        new("a/b"),
        new("there"),
        new("a_b"),
        new("p", 0),
        new("r", 1, 2),
        new("assigned", 2, -1, {0: [1]}),
        new("gap", -1, -1, {1: [1]}),
        new("config", nope="1"),
        new("value", retention_ms="soon"),
        new("__cluster_metadata"),
    )
    assert [code for _, code in codes(results)] == [17, 36, 17, 37, 38, 42, 39, 40, 40, 42]
    assert all(one.error_message for one in results)
    assert codes(create(client, new("x", 10_000), new("y", 1))) == [("x", 44), ("y", 44)]


def test_a_name_that_comes_twice_is_refused_once_and_not_made(
    kafka: FakeKafka, client: FakeClient
) -> None:
    results = create(client, new("t", 1), new("u", 1), new("t", 2))
    assert sorted(codes(results)) == [("t", 42), ("u", 0)]
    assert kafka.broker.catalog.names() == ["u"]


def test_of_two_clients_in_one_pass_one_creates_the_topic(kafka: FakeKafka) -> None:
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
