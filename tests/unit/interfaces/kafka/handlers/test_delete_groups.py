from __future__ import annotations

import pytest

from domain.errors import NonEmptyGroup
from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup
from tests.fakes.offset_requests import at, commit, delete_groups, offset_commit, offsets_of


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.topic("t", 3)
    for name in ("g", "h"):
        commit(kafka.client(), name, ("t", [at(0), at(1)]))
    return kafka


@pytest.mark.parametrize("version", [0, 2])
def test_a_group_is_deleted_with_its_offsets(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    kafka.broker.groups.registry.put(FakeGroup("without offsets"))
    commit(client, "", ("t", [at(0)]))
    deleted = ("g", "without offsets", "")
    before = kafka.commit.count
    codes = delete_groups(client, *deleted, version=version)
    assert codes == [(one, 0) for one in deleted]
    assert kafka.commit.count == before + 1
    for one in deleted:
        assert kafka.broker.groups.registry.find(one) is None
        assert offsets_of(client, one) == {}
    assert kafka.restarted().broker.groups.offsets.group_ids() == ["h"]


def test_each_group_has_its_own_code_once(kafka: FakeKafka, client: FakeClient) -> None:
    busy = FakeGroup("busy")
    busy.refusal = NonEmptyGroup()
    kafka.broker.groups.registry.put(busy)
    codes = delete_groups(client, "unknown", "g", "busy", "g", "", "h", "unknown")
    assert codes == [("unknown", 69), ("g", 0), ("busy", 68), ("", 69), ("h", 0)]
    assert kafka.broker.groups.registry.find("busy") is busy
    assert delete_groups(client) == []


def test_the_response_comes_with_the_commit(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    client.send(DeleteGroupsRequest(groups_names=["g"]), 2)
    kafka.run()
    assert client.responses() == []
    kafka.commit.let_go()
    kafka.run()
    assert [one.error_code for one in client.responses()[0].results] == [0]


def test_a_failed_commit_is_a_retriable_error(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete_groups(client, "g", "unknown", "h") == [("g", 15), ("unknown", 69), ("h", 15)]
    assert offsets_of(client, "g") == offsets_of(client, "h") == {"t": {0: 5, 1: 5}}


def test_an_earlier_commit_is_deleted_and_a_later_one_is_not(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(offset_commit("new", ("t", [at(0), at(1)])), 9)
    kafka.client().send(DeleteGroupsRequest(groups_names=["new"]), 2)
    kafka.client().send(offset_commit("new", ("t", [at(2, 7)])), 9)
    kafka.run()
    assert offsets_of(kafka.client(), "new") == {"t": {2: 7}}
    assert kafka.broker.groups.registry.find("new") is not None
