from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.offset_requests import (
    at,
    commit,
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


def test_a_commit_in_progress_is_deleted_too(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(offset_commit("new", ("t", [at(0), at(1)])), 9)
    assert kafka.broker.groups.offsets.of("new") == {}
    kafka.client().send(offset_delete("new", ("t", [0])), 0)
    kafka.run()
    assert offsets_of(kafka.client(), "new") == {"t": {1: 5}}
