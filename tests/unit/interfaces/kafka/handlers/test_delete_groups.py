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


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()


@pytest.mark.parametrize("version", range(3))
def test_a_group_is_deleted_with_its_offsets(
    kafka: FakeKafka, client: FakeClient, version: int
) -> None:
    assert delete_groups(client, "g", version=version) == [("g", 0)]
    assert kafka.broker.groups.registry.find("g") is None
    assert offsets_of(client, "g") == {}
    assert kafka.restarted().broker.groups.offsets.group_ids() == ["h"]


def test_group_and_offsets_go_in_one_commit(kafka: FakeKafka, client: FakeClient) -> None:
    before = kafka.commit.count
    assert delete_groups(client, "g", "h") == [("g", 0), ("h", 0)]
    assert kafka.commit.count == before + 1


def test_each_group_is_answered_once_and_for_itself(kafka: FakeKafka, client: FakeClient) -> None:
    busy = FakeGroup("busy")
    busy.refusal = NonEmptyGroup()
    kafka.broker.groups.registry.put(busy)
    results = delete_groups(client, "never", "g", "busy", "g", "", "h", "never")
    assert results == [("never", 69), ("g", 0), ("busy", 68), ("", 69), ("h", 0)]
    assert kafka.broker.groups.registry.find("busy") is busy


def test_the_group_without_a_name_is_deleted_like_any_other(client: FakeClient) -> None:
    commit(client, "", ("t", [at(0)]))
    assert delete_groups(client, "") == [("", 0)]
    assert offsets_of(client, "") == {}


def test_a_group_without_offsets_is_deleted_too(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.broker.groups.registry.put(FakeGroup("idle"))
    assert delete_groups(client, "idle") == [("idle", 0)]
    assert kafka.broker.groups.registry.find("idle") is None


def test_no_groups_are_none(client: FakeClient) -> None:
    assert delete_groups(client) == []


def test_the_answer_leaves_with_the_commit(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.hold()
    client.send(DeleteGroupsRequest(groups_names=["g"]), 2)
    kafka.run()
    assert client.answers() == []
    kafka.commit.let_go()
    kafka.run()
    assert [one.error_code for one in client.answers()[0].results] == [0]


def test_what_could_not_be_deleted_is_there_as_before(kafka: FakeKafka, client: FakeClient) -> None:
    kafka.commit.fail_next()
    assert delete_groups(client, "g", "never", "h") == [("g", 15), ("never", 69), ("h", 15)]
    assert offsets_of(client, "g") == offsets_of(client, "h") == {"t": {0: 5, 1: 5}}
    assert delete_groups(client, "g") == [("g", 0)]


def test_a_commit_before_it_goes_and_one_after_it_stays(
    kafka: FakeKafka, client: FakeClient
) -> None:
    client.send(offset_commit("new", ("t", [at(0), at(1)])), 9)
    kafka.client().send(DeleteGroupsRequest(groups_names=["new"]), 2)
    kafka.client().send(offset_commit("new", ("t", [at(2, 7)])), 9)
    kafka.run()
    assert offsets_of(kafka.client(), "new") == {"t": {2: 7}}
    assert kafka.broker.groups.registry.find("new") is not None


def test_before_all_is_loaded_clients_are_told_to_wait(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.broker.groups.offsets.loaded = False
    assert delete_groups(client, "g", "never") == [("g", 14), ("never", 14)]
