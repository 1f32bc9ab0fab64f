from __future__ import annotations

import pytest

from domain.groups.group import GroupKind
from tests.fakes.client import FakeClient, FakeKafka
from tests.fakes.groups import FakeGroup
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


@pytest.fixture
def client(kafka: FakeKafka) -> FakeClient:
    return kafka.client()


def live(kafka: FakeKafka, protocol_type: str, *topics: str) -> FakeGroup:
    group = FakeGroup("g")
    group.members = {"m": None}
    group.type = protocol_type
    group.topics = set(topics)
    kafka.broker.groups.registry.put(group)
    return group


def test_offsets_of_single_partitions_are_deleted(kafka: FakeKafka, client: FakeClient) -> None:
    assert delete_offsets(client, "g", ("t", [0, 2]), ("u", [0])) == {
        "t": [(0, 0), (2, 0)],
        "u": [(0, 0)],
    }
    assert offsets_of(client, "g") == {"t": {1: 5}}
    assert offsets_of(kafka.client(), "g") == {"t": {1: 5}}
    assert set(kafka.restarted().broker.groups.offsets.of("g")["t"]) == {1}


def test_what_was_never_committed_is_as_good_as_deleted(client: FakeClient) -> None:
    delete_offsets(client, "g", ("t", [1]))
    assert delete_offsets(client, "g", ("t", [1, 1])) == {"t": [(1, 0), (1, 0)]}


def test_partitions_that_are_not_there_are_refused_first(client: FakeClient) -> None:
    codes = delete_offsets(client, "g", ("t", [0, 9, -1]), ("nope", [0]), ("u", [0]))
    assert codes == {"t": [(9, 3), (-1, 3), (0, 0)], "nope": [(0, 3)], "u": [(0, 0)]}
    assert offsets_of(client, "g") == {"t": {1: 5, 2: 5}}


def test_a_topic_of_which_nothing_was_named_is_left_out(client: FakeClient) -> None:
    assert delete_offsets(client, "g", ("t", []), ("u", [0])) == {"u": [(0, 0)]}
    assert delete_offsets(client, "g") == {}


def test_a_group_that_is_not_there_is_refused_as_a_whole(client: FakeClient) -> None:
    assert delete_offsets(client, "never", ("t", [0])) == 69
    assert delete_offsets(client, "never", ("nope", [0])) == 69
    assert delete_offsets(client, "", ("t", [0])) == 24


def test_topics_that_a_member_reads_are_kept(kafka: FakeKafka, client: FakeClient) -> None:
    live(kafka, "consumer", "t")
    codes = delete_offsets(client, "g", ("t", [0, 8]), ("u", [0]))
    assert codes == {"t": [(8, 3), (0, 86)], "u": [(0, 0)]}
    assert set(offsets_of(client, "g")) == {"t"}


def test_of_members_that_do_not_say_what_they_read_all_is_kept(
    kafka: FakeKafka, client: FakeClient
) -> None:
    group = live(kafka, "connect")
    assert delete_offsets(client, "g", ("t", [0])) == 68
    group.members = {}
    assert delete_offsets(client, "g", ("t", [0])) == {"t": [(0, 0)]}


def test_a_consumer_group_says_what_it_reads(kafka: FakeKafka, client: FakeClient) -> None:
    group = FakeGroup("g", GroupKind.CONSUMER)
    group.members = {"m": None}
    group.topics = {"t"}
    kafka.broker.groups.registry.put(group)
    codes = delete_offsets(client, "g", ("t", [0]), ("u", [0]))
    assert codes == {"t": [(0, 86)], "u": [(0, 0)]}


def test_a_commit_that_is_under_way_is_deleted_too(kafka: FakeKafka, client: FakeClient) -> None:
    client.send(offset_commit("new", ("t", [at(0), at(1)])), 9)
    assert kafka.broker.groups.offsets.of("new") == {}
    kafka.client().send(offset_delete("new", ("t", [0])), 0)
    kafka.run()
    assert offsets_of(kafka.client(), "new") == {"t": {1: 5}}


def test_what_could_not_be_deleted_is_to_be_tried_again(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.commit.fail_next()
    assert delete_offsets(client, "g", ("t", [0])) == 15
    assert found(fetch_group(client, "g", {"t": [0]})) == {"t": {0: (5, -1, "", 0)}}
    assert delete_offsets(client, "g", ("t", [0])) == {"t": [(0, 0)]}


def test_before_all_is_loaded_clients_are_told_to_wait(
    kafka: FakeKafka, client: FakeClient
) -> None:
    kafka.broker.groups.offsets.loaded = False
    assert delete_offsets(client, "g", ("t", [0])) == 14
