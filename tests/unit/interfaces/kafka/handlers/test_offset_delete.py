from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.offset_requests import (
    at,
    commit,
    delete_offsets,
    fetch_group,
    found,
    offset_commit,
    offset_delete,
    offsets_of,
)


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    kafka.topic("u", 1)
    commit(kafka.client(), "g", ("t", [at(0), at(1), at(2)]), ("u", [at(0)]))
    return kafka


def test_offsets_of_single_partitions_are_deleted(kafka: FakeKafka, client: FakeClient) -> None:
    """Also if they are deleted already; topics without partitions are not in the response."""
    codes = {"t": [(0, 0), (2, 0)], "u": [(0, 0)]}
    for _ in range(2):
        assert delete_offsets(client, "g", ("t", [0, 2]), ("u", [0]), ("v", [])) == codes
    assert offsets_of(kafka.client(), "g") == {"t": {1: 5}}
    assert set(kafka.restarted().broker.groups.offsets.of("g")["t"]) == {1}


def test_a_commit_in_progress_is_deleted_too(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(offset_commit("new", ("t", [at(0), at(1)])), 9)
    assert kafka.broker.groups.offsets.of("new") == {}
    kafka.client().send(offset_delete("new", ("t", [0])), 0)
    kafka.run()
    assert offsets_of(kafka.client(), "new") == {"t": {1: 5}}


def test_a_failed_commit_is_a_retriable_error(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete_offsets(client, "g", ("t", [0])) == 15
    assert found(fetch_group(client, "g", {"t": [0]})) == {"t": {0: (5, -1, "", 0)}}
    assert delete_offsets(client, "g", ("t", [0])) == {"t": [(0, 0)]}
    kafka.broker.groups.offsets.loaded = False
    assert delete_offsets(client, "g", ("t", [0])) == 14
